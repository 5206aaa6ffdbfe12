//! Running commands: each is printed as it could be typed, none reads standard input.

use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};

/// What a command that ran to its end printed.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Prints a command and runs it; its output goes where ours goes.
///
/// # Errors
///
/// The command could not be started or did not succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = announce(command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` ended with {status}");
    }
    Ok(())
}

/// Prints a command, runs it and keeps what it prints.
///
/// # Errors
///
/// The command could not be started.
pub(crate) fn capture(command: &mut Command) -> Result<Captured> {
    let line = announce(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{line}`"))?;
    Ok(Captured {
        status: output.status,
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// What a command says about this machine, or nothing if it fails or does not exist. Not printed.
pub(crate) fn probe(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

fn announce(command: &Command) -> String {
    let line = show(command);
    println!("$ {line}");
    line
}

/// A command as it could be typed into a shell at the folder it runs in.
pub(crate) fn show(command: &Command) -> String {
    let mut words = Vec::new();
    for (name, value) in command.get_envs() {
        // Removed variables are left out: they matter only to who has set them.
        if let Some(value) = value {
            let value = value.to_string_lossy();
            let name = name.to_string_lossy();
            words.push(format!("{name}={}", quote(&value)));
        }
    }
    words.push(quote(&command.get_program().to_string_lossy()));
    words.extend(command.get_args().map(|arg| quote(&arg.to_string_lossy())));
    words.join(" ")
}

fn quote(word: &str) -> String {
    match shlex::try_quote(word) {
        Ok(quoted) => quoted.into_owned(),
        Err(_) => format!("{word:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let mut command = Command::new("cargo");
        command
            .args(["test", "-p", "a b"])
            .env("RUSTFLAGS", "--cfg x")
            .env_remove("GONE");
        assert_eq!(show(&command), "RUSTFLAGS='--cfg x' cargo test -p 'a b'");
    }

    #[test]
    fn a_failing_command_is_an_error_that_names_it() {
        let error = run(Command::new("cargo").arg("no-such-subcommand")).unwrap_err();
        assert!(error.to_string().contains("cargo no-such-subcommand"));
        assert!(run(&mut Command::new("no-such-program")).is_err());
    }

    #[test]
    fn a_probe_of_a_missing_program_is_nothing() {
        assert_eq!(probe("no-such-program", &[]), None);
        assert_eq!(probe("cargo", &["no-such-subcommand"]), None);
        assert!(probe("cargo", &["--version"]).is_some_and(|text| text.starts_with("cargo")));
    }
}
