//! The sensor node and its server, over QEMU's serial port on a socket.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use wait_timeout::ChildExt;

use super::build::Board;
use super::qemu::PROGRAM;
use crate::command::{run as run_command, show};
use crate::project::Project;

const EXAMPLE: [&str; 4] = ["-p", "limiter-embassy", "--example", "node_server"];
/// The server's scenario takes half a minute.
const PATIENCE: Duration = Duration::from_secs(90);

/// Runs both; the server says whether what arrived was as it should be.
///
/// # Errors
///
/// One cannot be started or does not end, or the server is not content.
pub(crate) fn run(project: &Project, board: &Board, binaries: &Path) -> Result<()> {
    run_command(project.cargo(&["build"]).args(EXAMPLE))?;
    let mut command = project.cargo(&["run", "--quiet"]);
    command
        .args(EXAMPLE)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    println!("$ {}", show(&command));
    let mut server = Running(command.spawn().context("cannot start the server")?);
    let stdout = server.0.stdout.take().context("the server has no output")?;
    let mut lines = BufReader::new(stdout).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let port = first
        .strip_prefix("port ")
        .with_context(|| format!("the server said `{first}` instead of its port"))?;

    let mut command = Command::new(PROGRAM);
    command
        .args(["-M", board.machine, "-display", "none", "-monitor", "none"])
        .args(["-semihosting-config", "enable=on,target=native"])
        // No tick of the node's clock is lost when the machine is busy. It does sleep: time goes on outside.
        .args(["-icount", "shift=7"])
        // Without it a byte takes forty milliseconds, and a lost connection stays lost.
        .arg("-chardev")
        .arg(format!(
            "socket,id=wire,host=127.0.0.1,port={port},reconnect=1,nodelay=on"
        ))
        .args(["-serial", "chardev:wire", "-kernel"])
        .arg(binaries.join("node"))
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    println!("$ {}", show(&command));
    let mut node = Running(command.spawn().context("cannot start the node")?);

    let said: Vec<_> = lines.map_while(Result::ok).collect();
    let content = server.end()?;
    for line in &said {
        println!("    {line}");
    }
    if !content {
        bail!("the server is not content with the node");
    }
    if !node.end()? {
        bail!("the node failed");
    }
    Ok(())
}

/// A child that does not outlive us.
struct Running(Child);

impl Running {
    fn end(&mut self) -> Result<bool> {
        match self.0.wait_timeout(PATIENCE)? {
            Some(status) => Ok(status.success()),
            None => bail!("it did not end in {} s", PATIENCE.as_secs()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Already ended, or in the way of whatever failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
