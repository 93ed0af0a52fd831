//! What a whole process takes: processor time over all its threads, and memory.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What a process took.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Processor seconds of all threads, in the kernel too.
    pub cpu_s: f64,
    /// Most memory that was resident, in MB (10^6 bytes); NaN where the system does not say.
    pub peak_mb: f64,
}

/// Runs `ragstage` with `arguments` in `folder`.
pub fn ragstage(folder: &Path, arguments: &[&str]) -> Cost {
    // The shell's `times` tells what its children took, wherever there is a shell.
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$@\" > output.txt & echo $!; wait $! || exit 1; times", "sh", env!("CARGO_BIN_EXE_ragstage")]);
    shell.args(arguments).current_dir(folder).env_remove("RAGSTAGE_STORE").stdout(Stdio::piped());
    let mut child = shell.spawn().expect("a shell");
    let mut reader = std::io::BufReader::new(child.stdout.take().expect("its output"));
    let mut pid = String::new();
    std::io::BufRead::read_line(&mut reader, &mut pid).expect("the process");
    let mut peak_mb = f64::NAN;
    while child.try_wait().expect("the shell").is_none() {
        peak_mb = high_water(pid.trim()).unwrap_or(peak_mb);
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut text = String::new();
    std::io::Read::read_to_string(&mut reader, &mut text).expect("its times");
    let times = text.lines().last().unwrap_or_default();
    let cpu_s = times.split_whitespace().map(seconds).sum();
    assert!(child.wait().is_ok_and(|status| status.success()), "ragstage {arguments:?} failed");
    Cost { cpu_s, peak_mb }
}

/// The most memory that the process `pid` held so far, in MB (10^6 bytes), where the system says so.
pub fn high_water(pid: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok().map(|kib| kib * 1024.0 / 1e6)
}

/// `1m2.34s` as seconds.
fn seconds(text: &str) -> f64 {
    let (minutes, seconds) = text.trim_end_matches('s').split_once('m').expect("minutes and seconds");
    minutes.parse::<f64>().expect("minutes") * 60.0 + seconds.parse::<f64>().expect("seconds")
}
