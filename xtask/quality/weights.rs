//! Other weights than those of the product: by name, and looked for one after the other.

use anyhow::{Result, bail};
use moss_ranking::Weights;

/// What is tried of a factor.
const FACTORS: [f32; 6] = [0.5, 0.7, 0.85, 1.2, 1.4, 2.0];
/// What is added to a share.
const STEPS: [f32; 4] = [-0.2, -0.1, 0.1, 0.2];
/// A gain of less is chance.
const GAIN_MIN: f64 = 0.000_5;
/// Most rounds over all weights.
const ROUNDS_MAX: usize = 4;
const FIELDS: [&str; 5] = ["symbol", "container", "path", "documentation", "body"];
/// What is looked for. Without `repeated`: suite A asks for so many hits that it does not notice which files are
/// crowded out.
const TUNED: [&str; 27] = [
    "k1",
    "symbol",
    "container",
    "path",
    "documentation",
    "b.symbol",
    "b.container",
    "b.path",
    "b.documentation",
    "b.body",
    "joined",
    "whole",
    "covered",
    "shape",
    "test",
    "document",
    "data",
    "barrel",
    "file",
    "next",
    "definition",
    "centrality",
    "commits",
    "similar",
    "commits.described",
    "commits.k1",
    "commits.b",
];

/// The weight of a name.
fn weight<'a>(weights: &'a mut Weights, name: &str) -> Result<&'a mut f32> {
    let field = |name: &str| FIELDS.iter().position(|known| *known == name);
    Ok(match name {
        "k1" => &mut weights.k1,
        "joined" => &mut weights.joined,
        "whole" => &mut weights.whole_name,
        "covered" => &mut weights.covered,
        "shape" => &mut weights.shape,
        "test" => &mut weights.test,
        "document" => &mut weights.document,
        "vendored" => &mut weights.vendored,
        "data" => &mut weights.data,
        "barrel" => &mut weights.barrel,
        "next" => &mut weights.next_chunks,
        "definition" => &mut weights.definition,
        "centrality" => &mut weights.centrality,
        "repeated" => &mut weights.repeated,
        "commits" => &mut weights.commits,
        "commits.k1" => &mut weights.commits_k1,
        "file" => &mut weights.file_covered,
        "similar" => &mut weights.similar_commits,
        "commits.described" => &mut weights.described_commits,
        "commits.b" => &mut weights.commits_length,
        _ => match (field(name), name.strip_prefix("b.").and_then(field)) {
            (Some(field), _) => &mut weights.fields[field],
            (_, Some(field)) => &mut weights.lengths[field],
            _ => bail!("there is no weight `{name}`"),
        },
    })
}

/// Sets one weight by its name.
pub(crate) fn set(weights: &mut Weights, name: &str, value: f32) -> Result<()> {
    *weight(weights, name)? = value;
    Ok(())
}

fn is_share(name: &str) -> bool {
    name.starts_with("b.")
        || matches!(
            name,
            "commits.b"
                | "test"
                | "document"
                | "data"
                | "barrel"
                | "next"
                | "repeated"
                | "joined"
                | "commits.described"
        )
}

/// Looks for better weights one after the other, by what they are worth, and reports each step.
pub(crate) fn tune(
    mut weights: Weights,
    worth: &dyn Fn(&Weights) -> f64,
    report: &dyn Fn(&str),
) -> Result<Weights> {
    let mut best = worth(&weights);
    report(&format!("begins with {best:.4}"));
    for _ in 0..ROUNDS_MAX {
        let before = best;
        for name in TUNED {
            let own = *weight(&mut weights, name)?;
            let values: Vec<f32> = match is_share(name) {
                true => STEPS.iter().map(|step| (own + step).clamp(0.0, 1.0)).collect(),
                false => FACTORS.iter().map(|factor| own * factor).collect(),
            };
            for value in values {
                let mut other = weights.clone();
                set(&mut other, name, value)?;
                let now = worth(&other);
                if now > best + GAIN_MIN {
                    best = now;
                    weights = other;
                    report(&format!("{best:.4} with {name}={value}"));
                }
            }
        }
        if best - before < GAIN_MIN {
            break;
        }
    }
    Ok(weights)
}
