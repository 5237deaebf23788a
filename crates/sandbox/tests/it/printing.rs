//! What bash reads, without running it.

use moss_sandbox::NotPrinted;

use crate::harness::{WAYS, sandbox};

#[tokio::test]
async fn bash_writes_a_script_down_and_runs_nothing_of_it() {
    for way in WAYS {
        let sandbox = sandbox(way).await;
        for (script, printed) in [
            ("ls   -l;touch a", "ls -l; touch a"),
            ("exit 3", "exit 3"),
            ("echo $(cat <<E\na\nE\n)", "echo $(cat <<E\na\nE\n)"),
        ] {
            let found = sandbox.printed(script).await;
            assert_eq!(found.unwrap().trim_end(), printed, "{way}");
        }
        let long = "echo a; ".repeat(8_000);
        let printed = sandbox.printed(&long).await.unwrap();
        assert_eq!(printed.matches("echo a").count(), 8_000, "{way}");
        for refused in [
            "echo $(cat <<'E'\nErm x; echo b) #\nE\n)",
            "echo $(a=(\\;)) '\nrm x\n: '",
            "if ls",
            "ls )",
        ] {
            assert_eq!(
                sandbox.printed(refused).await,
                Err(NotPrinted::Refused),
                "{way}: {refused}"
            );
        }
    }
}
