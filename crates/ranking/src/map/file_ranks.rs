//! What follows from a walk over the graph of files, as it is kept: the files in their order, and which
//! directories use which. Results about a part of the workspace are made from it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::{HashMap, HashSet};
use moss_sdk::RelPath;
use moss_sdk::code_map::{CentralFile, CodeMap, UsingModule};

use super::FileGraph;

/// Most files of a map.
const FILES_MAX: usize = 15;
/// Most names of a file.
const NAMES_MAX: usize = 4;
/// Most directories of a map.
const MODULES_MAX: usize = 20;
/// Most directories that one uses.
const USES_MAX: usize = 5;

/// The files of an index as one caller may see them, by how central they are.
#[derive(Debug, Default)]
pub struct FileRanks {
    /// Those that others use, the most central first.
    files: Vec<CentralFile>,
    directories: Vec<RelPath>,
    /// Which directory uses which other one, and how much.
    uses: Vec<(u32, u32, f32)>,
    /// The map that was asked for last, with its directory: most ask for the same one again.
    last: Mutex<Option<(RelPath, CodeMap)>>,
}

// === impl FileRanks ===

impl FileRanks {
    pub(super) fn new(graph: &FileGraph<'_>, ranks: &[f64]) -> Self {
        let uses = graph.in_order();
        let mut used_by = vec![0_u32; graph.paths.len()];
        for (_, used, _) in &uses {
            used_by[*used as usize] += 1;
        }
        let mut order: Vec<usize> = (0..used_by.len()).filter(|file| used_by[*file] > 0).collect();
        order.sort_by(|one, other| {
            let by_path = || graph.paths[*one].cmp(graph.paths[*other]);
            ranks[*other].total_cmp(&ranks[*one]).then_with(by_path)
        });
        let file = |file: usize| {
            let mut names = graph.names[file].clone();
            names.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
            let names = names.into_iter().take(NAMES_MAX).map(|(_, name)| name.to_owned());
            let path = graph.paths[file].clone();
            CentralFile { path, used_by: used_by[file], names: names.collect() }
        };
        let files = order.into_iter().map(file).collect();
        let (directories, uses) = between_directories(graph, &uses);
        Self { files, directories, uses, last: Mutex::default() }
    }

    /// Says which files beneath a directory are central among all.
    pub fn beneath(&self, directory: &RelPath) -> CodeMap {
        if let Some((known, map)) = &*self.last()
            && known == directory
        {
            return map.clone();
        }
        let map = self.map(directory);
        *self.last() = Some((directory.clone(), map.clone()));
        map
    }

    fn last(&self) -> MutexGuard<'_, Option<(RelPath, CodeMap)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn map(&self, directory: &RelPath) -> CodeMap {
        let is_wanted = |path: &RelPath| directory.is_root() || path.beneath(directory).is_some();
        let files = self.files.iter().filter(|file| is_wanted(&file.path));
        let files = files.take(FILES_MAX).cloned().collect();
        CodeMap { files, modules: self.modules(directory) }
    }

    /// Which directories use which, of those beneath one: those that have to do with most others.
    fn modules(&self, beneath: &RelPath) -> Vec<UsingModule> {
        let is_wanted = |path: &RelPath| {
            beneath.is_root() || path == beneath || path.beneath(beneath).is_some()
        };
        let mut uses: HashMap<u32, Vec<(&RelPath, f32)>> = HashMap::new();
        let mut users: HashMap<u32, u32> = HashMap::new();
        for (from, to, weight) in &self.uses {
            if is_wanted(&self.directories[*from as usize]) {
                uses.entry(*from).or_default().push((&self.directories[*to as usize], *weight));
                *users.entry(*to).or_default() += 1;
            }
        }
        let numbers: HashSet<u32> = uses.keys().chain(users.keys()).copied().collect();
        let module = |number: u32| {
            let mut used = uses.get(&number).cloned().unwrap_or_default();
            used.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(other.0)));
            UsingModule {
                path: self.directories[number as usize].clone(),
                uses: used.into_iter().take(USES_MAX).map(|(to, _)| to.clone()).collect(),
                used_by: users.get(&number).copied().unwrap_or_default(),
            }
        };
        let mut all: Vec<UsingModule> = numbers.into_iter().map(module).collect();
        all.sort_by(|one, other| {
            let links = |module: &UsingModule| module.used_by as usize + module.uses.len();
            links(other).cmp(&links(one)).then_with(|| one.path.cmp(&other.path))
        });
        all.truncate(MODULES_MAX);
        all
    }
}

/// The uses of files as uses of the directories that they lie in.
fn between_directories(
    graph: &FileGraph<'_>,
    uses: &[(u32, u32, f32)],
) -> (Vec<RelPath>, Vec<(u32, u32, f32)>) {
    let mut numbers: HashMap<RelPath, u32> = HashMap::new();
    let mut directories = Vec::new();
    let mut numbered = |path: &RelPath| {
        let parent = path.parent().unwrap_or_else(RelPath::root);
        *numbers.entry(parent).or_insert_with_key(|parent| {
            directories.push(parent.clone());
            u32::try_from(directories.len() - 1).unwrap_or(u32::MAX)
        })
    };
    let of_files: Vec<u32> = graph.paths.iter().map(|path| numbered(path)).collect();
    let mut between: HashMap<(u32, u32), f32> = HashMap::new();
    for (user, used, weight) in uses {
        let (from, to) = (of_files[*user as usize], of_files[*used as usize]);
        if from != to {
            *between.entry((from, to)).or_default() += weight;
        }
    }
    let mut between: Vec<_> =
        between.into_iter().map(|((from, to), weight)| (from, to, weight)).collect();
    between.sort_unstable_by_key(|(from, to, _)| (*from, *to));
    (directories, between)
}
