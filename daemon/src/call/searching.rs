//! Questions over code for one call: what its caller may see of what is known.

use std::collections::HashMap;

use moss_ranking::MeaningVector;
use moss_sdk::RelPath;
use moss_sdk::code_map::CodeMap;
use moss_sdk::code_search::{CodeRanking, CodeSearch, CodeSearchFound};
use moss_workspace::{Error, MayRead};

use super::effect::ReadableByAll;
use super::read_access::ReadAccess;
use moss_live_index::ranked_texts::{NearVectors, RankedGate};

/// What is known of the meaning of a question.
pub(super) enum QuestionMeaning {
    /// Nobody configured embeddings, or it is no question in words.
    NotWanted,
    /// There is no vector of it, for whatever reason.
    Unknown,
    Known(MeaningVector),
}

/// Searches in what is known and the caller may read. None where nothing is kept.
pub(super) fn search(
    reader: &ReadAccess,
    search: &CodeSearch,
    sees_commits: bool,
    meaning: QuestionMeaning,
) -> Result<Option<CodeSearchFound>, Error> {
    let workspace = reader.workspace();
    let mut sees = seeing(reader);
    let near = match &meaning {
        QuestionMeaning::Known(question) => {
            Some(NearVectors { question, vectors: &workspace.embeddings.vectors })
        }
        QuestionMeaning::NotWanted | QuestionMeaning::Unknown => None,
    };
    let gate = RankedGate { name: reader.name(), sees: &mut sees, shows: None, sees_commits, near };
    let cancelled = || reader.is_cancelled();
    let found = workspace.search_code(gate, search, &ReadableByAll(workspace), &cancelled)?;
    let ranking = match meaning {
        QuestionMeaning::NotWanted => None,
        QuestionMeaning::Unknown => Some(CodeRanking::Lexical),
        QuestionMeaning::Known(_) => Some(CodeRanking::Hybrid),
    };
    Ok(found.map(|found| CodeSearchFound { ranking, ..found }))
}

/// Says which files beneath a directory are central, of those that the caller may read.
pub(super) fn map(reader: &ReadAccess, beneath: &RelPath) -> Option<CodeMap> {
    let workspace = reader.workspace();
    let mut sees = seeing(reader);
    let gate = RankedGate {
        name: reader.name(),
        sees: &mut sees,
        shows: None,
        sees_commits: false,
        near: None,
    };
    let cancelled = || reader.is_cancelled();
    workspace.map_code(gate, beneath, &ReadableByAll(workspace), &cancelled)
}

/// Which texts a caller may see: those that it may read, where a walk would come to them.
fn seeing(reader: &ReadAccess) -> impl FnMut(&RelPath) -> bool {
    let mut listed: HashMap<RelPath, bool> = HashMap::new();
    move |path: &RelPath| {
        let may_read = reader.reads(path, path) == MayRead::Yes;
        may_read && path.parent().is_none_or(|parent| lists(reader, &parent, &mut listed))
    }
}

/// Whether a walk would come to a directory: it and all around it may be listed.
pub(super) fn lists(
    reader: &ReadAccess,
    directory: &RelPath,
    known: &mut HashMap<RelPath, bool>,
) -> bool {
    if directory.is_root() {
        return true;
    }
    if let Some(verdict) = known.get(directory) {
        return *verdict;
    }
    let around = directory.parent().is_none_or(|parent| lists(reader, &parent, known));
    let verdict = around && reader.lists(directory);
    known.insert(directory.clone(), verdict);
    verdict
}
