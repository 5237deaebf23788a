//! What to do next about an error, by its code: reasons have it in their rows, the codes of commands here.

use moss_dispatch::Reason;

/// What to do about the code of a command that is no reason.
struct CommandCode {
    code: &'static str,
    /// What a person does; empty where there is no one thing to do.
    person: &'static str,
    /// What a model does whose client ends so; empty where none does.
    model: &'static str,
}

/// What a model does where no daemon starts in the process of its client.
const TO_BE_FIXED: &str = "ask the person to fix it: `moss doctor` in the project says more";
const OF_COMMANDS: &[CommandCode] = &[
    CommandCode {
        code: "workspace_unusable",
        person: "",
        model: "ask the person to start this client in a project, or moss with --workspace DIR",
    },
    CommandCode { code: "config_invalid", person: "", model: TO_BE_FIXED },
    CommandCode {
        code: "admin_policy_invalid",
        person: "fix the file, then check it with `moss policy check`, and with `--admin-policy FILE` where it was \
                 named so",
        model: TO_BE_FIXED,
    },
    CommandCode {
        code: "policy_invalid",
        person: "fix the file, then check it with `moss policy check`",
        model: "",
    },
    CommandCode { code: "plugin_list_missing", person: "", model: TO_BE_FIXED },
    CommandCode {
        code: "plugin_unknown",
        person: "see what is listed with `moss plugin list`",
        model: "",
    },
    CommandCode {
        code: "state_unusable",
        person: "look for the cause with `moss doctor`",
        model: TO_BE_FIXED,
    },
    CommandCode { code: "io", person: "", model: TO_BE_FIXED },
];

/// Returns what a person does next about an error, where there is one thing to do.
pub(super) fn next_step(code: &str) -> Option<&'static str> {
    let step = match Reason::of_code(code) {
        Some(reason) => reason.for_person(),
        None => of_command(code).map_or("", |known| known.person),
    };
    Some(step).filter(|step| !step.is_empty())
}

/// Returns what a model does next about a call that did not run; nothing where its message says all, or nobody
/// reads it.
pub(super) fn next_step_of_model(code: &str) -> &'static str {
    match Reason::of_code(code) {
        Some(reason) => reason.for_model(),
        None => of_command(code).map_or("", |known| known.model),
    }
}

fn of_command(code: &str) -> Option<&'static CommandCode> {
    OF_COMMANDS.iter().find(|known| known.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_code_of_a_command_is_a_reason() {
        for known in OF_COMMANDS {
            assert_eq!(Reason::of_code(known.code), None, "{}", known.code);
        }
    }
}
