//! What somebody meets who has never used moss: one tool's parameters, words of other programs, a history
//! that is longer than the screen, a machine on which moss cannot write.


use serde_json::Value;

use crate::harness::{Ended, Site};

fn parsed(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

#[test]
fn absolute_path_through_a_link_into_the_workspace_is_taken() {
    let site = Site::allowing();
    site.write("sub/a.txt", "x\n");
    std::os::unix::fs::symlink(site.workspace(), site.outside("link")).unwrap();
    let path = format!("path={}", site.outside("link/sub/a.txt").display());
    let read = parsed(&site.run(&["call", "read_file", &path, "--json"]));
    assert_eq!(read["output"]["path"], "sub/a.txt", "{read}");
    std::fs::write(site.outside("secret.txt"), "x").unwrap();
    let path = format!("path={}", site.outside("link/../secret.txt").display());
    let refused = parsed(&site.run(&["call", "read_file", &path, "--json"]));
    assert_eq!(refused["error"]["code"], "outside_workspace", "{refused}");
}
