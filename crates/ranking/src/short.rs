//! What names write for long words: `cfg` for *configuration*.

/// Words with what is short for them, by stems as names have them; in the order of the words.
const SHORT: &[(&str, &[&str])] = &[
    ("absolute", &["abs"]),
    ("application", &["app"]),
    ("argument", &["arg", "argv"]),
    ("arguments", &["arg", "argv"]),
    ("asynchronous", &["async"]),
    ("attribute", &["attr"]),
    ("attributes", &["attr"]),
    ("authentication", &["auth"]),
    ("authorization", &["auth"]),
    ("buffer", &["buf"]),
    ("certificate", &["cert"]),
    ("character", &["char"]),
    ("characters", &["char"]),
    ("command", &["cmd"]),
    ("commands", &["cmd"]),
    ("config", &["cfg", "conf"]),
    ("configuration", &["config", "cfg", "conf"]),
    ("connection", &["conn"]),
    ("context", &["ctx"]),
    ("current", &["cur", "curr"]),
    ("database", &["db"]),
    ("destination", &["dst", "dest"]),
    ("directories", &["dir"]),
    ("directory", &["dir"]),
    ("environment", &["env"]),
    ("error", &["err"]),
    ("errors", &["err"]),
    ("execute", &["exec"]),
    ("executes", &["exec"]),
    ("expression", &["expr"]),
    ("function", &["fn", "func"]),
    ("functions", &["fn", "func"]),
    ("generate", &["gen"]),
    ("generates", &["gen"]),
    ("identifier", &["id", "ident"]),
    ("implementation", &["impl"]),
    ("index", &["idx"]),
    ("information", &["info"]),
    ("initialize", &["init"]),
    ("initializes", &["init"]),
    ("language", &["lang"]),
    ("length", &["len"]),
    ("library", &["lib"]),
    ("maximum", &["max"]),
    ("message", &["msg"]),
    ("messages", &["msg"]),
    ("minimum", &["min"]),
    ("number", &["num"]),
    ("original", &["orig"]),
    ("package", &["pkg"]),
    ("packages", &["pkg"]),
    ("parameter", &["param"]),
    ("parameters", &["param"]),
    ("password", &["passwd", "pwd"]),
    ("position", &["pos"]),
    ("previous", &["prev"]),
    ("properties", &["prop"]),
    ("property", &["prop"]),
    ("reference", &["ref"]),
    ("references", &["ref"]),
    ("regex", &["re", "regexp"]),
    ("relative", &["rel"]),
    ("repository", &["repo"]),
    ("request", &["req"]),
    ("response", &["resp", "res"]),
    ("separator", &["sep"]),
    ("source", &["src"]),
    ("specification", &["spec"]),
    ("statement", &["stmt"]),
    ("string", &["str"]),
    ("synchronize", &["sync"]),
    ("template", &["tmpl", "tpl"]),
    ("temporary", &["tmp", "temp"]),
    ("value", &["val"]),
    ("variable", &["var"]),
    ("variables", &["var"]),
];

/// What is short for a word, in lower case.
pub(crate) fn shortened(word: &str) -> &'static [&'static str] {
    SHORT.binary_search_by_key(&word, |(long, _)| long).map_or(&[], |at| SHORT[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_what_is_short_for_them() {
        assert!(SHORT.is_sorted_by_key(|(long, _)| long));
        assert_eq!(shortened("configuration"), ["config", "cfg", "conf"]);
        assert_eq!(shortened("zebra"), [""; 0]);
    }
}
