//! Paths of documents below a benchmark's root.

/// `path` in the one form that names it: relative to the root, its segments joined by `/`, without `.` and `..`.
///
/// # Errors
/// What is wrong with it, as a fragment: it is blank, absolute, or leaves the root. The reference system joins it unchecked.
pub(super) fn document_path(path: &str) -> Result<String, &'static str> {
    if crate::python::strip(path).is_empty() {
        return Err("is blank");
    }
    if path.starts_with('/') {
        return Err("is absolute; expected a path relative to the benchmark's root");
    }
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop().ok_or("leaves the benchmark's root")?;
            }
            segment => segments.push(segment),
        }
    }
    if segments.is_empty() {
        return Err("names the benchmark's root, not a file");
    }
    Ok(segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_path() {
        assert_eq!(document_path("files/harbor.md").as_deref(), Ok("files/harbor.md"));
        assert_eq!(document_path("./files//a/../harbor.md").as_deref(), Ok("files/harbor.md"));
        assert_eq!(document_path("..a/b..").as_deref(), Ok("..a/b.."));
    }

    #[test]
    fn nothing_outside_the_root_is_named() {
        for path in ["/etc/passwd", "../x", "a/../../x", "..", ".", "a/..", " ", ""] {
            assert!(document_path(path).is_err(), "{path:?}");
        }
    }
}
