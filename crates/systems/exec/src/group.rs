//! Process groups of guests: a guest ends with whatever it has started, also when its host is killed.
//!
//! Each guest leads a process group, and the whole group is killed with it. A host that is killed can end nobody any more;
//! so beside it runs a shell that knows the groups by a pipe, and ends those that are left when the pipe closes. What leaves
//! its group is lost to both. Where there are no process groups, the guest is killed alone.

use std::io;
use std::process::{Child, Command};

/// Starts a command as the leader of a process group of its own.
///
/// # Errors
/// The command cannot be started.
pub(crate) fn start(command: &mut Command) -> io::Result<Child> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let child = command.spawn()?;
    #[cfg(unix)]
    watch::tell(watch::Sign::Begins, child.id());
    Ok(child)
}

/// Ends all that is left of the group of a child, whether or not the child itself has ended. To be called once, before the
/// child is waited for or at once after: later its number may be somebody else's.
pub(crate) fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
            // All of them may have ended by themselves.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        watch::tell(watch::Sign::Ended, child.id());
    }
    // It may have ended by itself.
    #[cfg(not(unix))]
    let _ = child.kill();
}

/// The shell that outlives a host that is killed.
#[cfg(unix)]
mod watch {
    use std::io::{self, Write};
    use std::os::unix::process::CommandExt;
    use std::process::{ChildStdin, Command, Stdio};
    use std::sync::{Mutex, PoisonError};

    /// Reads `+ group` and `- group`, and when nobody can write any more it ends the groups that are left. It ignores what a
    /// terminal tells everybody.
    const SCRIPT: &str = r#"
trap '' INT TERM HUP QUIT
groups=" "
while read -r sign group; do
    case "$sign" in
    +) groups="$groups$group " ;;
    -) groups="${groups%%" $group "*} ${groups#*" $group "}" ;;
    esac
done
for group in $groups; do
    kill -s KILL -- "-$group" 2>/dev/null
done
"#;

    /// What becomes of a group.
    #[derive(Clone, Copy)]
    pub(super) enum Sign {
        Begins,
        Ended,
    }

    /// One shell for all guests of this process, begun with the first.
    static SHELL: Mutex<Option<ChildStdin>> = Mutex::new(None);

    /// Tells the shell of a group. Without a shell a killed host leaves its guests to themselves; that spoils no run.
    pub(super) fn tell(sign: Sign, group: u32) {
        let mut shell = SHELL.lock().unwrap_or_else(PoisonError::into_inner);
        if shell.is_none() {
            *shell = begin().ok();
        }
        let sign = match sign {
            Sign::Begins => '+',
            Sign::Ended => '-',
        };
        if let Some(pipe) = &mut *shell {
            let _ = pipe.write_all(format!("{sign} {group}\n").as_bytes());
        }
    }

    fn begin() -> io::Result<ChildStdin> {
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(shell.stdin.take().expect("it is piped"))
    }
}
