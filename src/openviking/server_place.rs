//! Which OpenViking server is meant: as OpenViking's own clients find it (spec/openviking 7.1).

use std::path::{Path, PathBuf};

use ragstage_stages::error::{InputError, Place};
use serde_json::Value;

/// The environment variable by which the server's key goes.
pub const SERVER_KEY: &str = "OPENVIKING_API_KEY";
/// The server's default port.
const DEFAULT_URL: &str = "http://localhost:1933";

/// A server, and what is sent with every request.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ServerPlace {
    /// Its URL.
    pub url: String,
    /// Whether it was found anywhere, rather than taken for granted.
    pub found: bool,
    /// Whether a key is sent.
    pub has_key: bool,
    /// The key, where a file has it rather than the environment.
    pub key: Option<String>,
    /// Sent as `X-OpenViking-Account`.
    pub account: Option<String>,
    /// Sent as `X-OpenViking-User`.
    pub user: Option<String>,
}

/// The server that `url`, the environment, or else the client's configuration file names; the default port of this machine where
/// none does.
///
/// # Errors
/// When the configuration file cannot be read or is no JSON object.
pub fn find_server(url: Option<&str>, environment: &dyn Fn(&str) -> Option<String>) -> Result<ServerPlace, InputError> {
    let variable =
        |name: &str| environment(name).map(|value| value.trim().to_string()).filter(|value| !value.is_empty());
    let file = client_file(&variable)?;
    let said = |name: &str, key: &str| {
        let of_file = || file.as_ref().and_then(|file| file.get(key)?.as_str()).map(str::trim).map(str::to_string);
        variable(name).or_else(|| of_file().filter(|text| !text.is_empty()))
    };
    let url = url.map(str::to_string).or_else(|| said("OPENVIKING_URL", "url"));
    let key = said(SERVER_KEY, "api_key");
    Ok(ServerPlace {
        found: url.is_some(),
        url: url.unwrap_or_else(|| DEFAULT_URL.to_string()).trim_end_matches('/').to_string(),
        has_key: key.is_some(),
        key: key.filter(|_| variable(SERVER_KEY).is_none()),
        account: said("OPENVIKING_ACCOUNT", "account"),
        user: said("OPENVIKING_USER", "user"),
    })
}

/// The client's configuration file, where there is one.
fn client_file(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Value>, InputError> {
    let path = match variable("OPENVIKING_CLI_CONFIG_FILE") {
        Some(path) => PathBuf::from(path),
        None => match variable("HOME") {
            Some(home) => Path::new(&home).join(".openviking/ovcli.conf"),
            None => return Ok(None),
        },
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(InputError::new(Place::file(&path), format!("cannot be read: {error}"))),
    };
    match serde_json::from_str::<Value>(&text) {
        Ok(value @ Value::Object(_)) => Ok(Some(value)),
        Ok(_) => Err(InputError::new(Place::file(&path), "expected a JSON object")),
        Err(error) => {
            let place = Place::at(&path, error.line() as u64, error.column() as u64);
            Err(InputError::new(place, "expected JSON").hint("mend the file, or name the server with OPENVIKING_URL"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_then_the_environment_then_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("ovcli.conf");
        std::fs::write(&file, r#"{"url": "http://file:1/", "api_key": "secret", "user": "u", "timeout": 9}"#)
            .expect("a file");
        let path = file.display().to_string();
        let of = |url: Option<&str>, set: &[(&str, &str)]| {
            let environment = |name: &str| match name {
                "OPENVIKING_CLI_CONFIG_FILE" => Some(path.clone()),
                name => set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string()),
            };
            find_server(url, &environment)
        };
        let from_file = of(None, &[]).expect("a server");
        assert_eq!((from_file.url.as_str(), from_file.key.as_deref()), ("http://file:1", Some("secret")));
        assert_eq!((from_file.user.as_deref(), from_file.found), (Some("u"), true));
        let both = of(None, &[("OPENVIKING_URL", "http://env:2"), (SERVER_KEY, "k")]).expect("a server");
        assert_eq!((both.url.as_str(), both.has_key, both.key), ("http://env:2", true, None));
        assert_eq!(of(Some("http://flag:3"), &[("OPENVIKING_URL", "x")]).expect("a server").url, "http://flag:3");
        std::fs::write(&file, "{").expect("a file");
        assert!(of(None, &[]).is_err());
        std::fs::remove_file(&file).expect("removed");
        let none = of(None, &[]).expect("a server");
        assert_eq!((none.url.as_str(), none.found, none.has_key), ("http://localhost:1933", false, false));
    }
}
