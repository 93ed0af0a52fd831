//! Texts that no message and no kept reply may hold.

use serde_json::Value;

use super::json_reply::bad_reply;
use crate::error::RowError;

/// What a text is replaced by.
const MASK: &str = "***";
/// Shorter values are no secrets but `1` or `on`, and masking them would garble every message.
const SHORTEST: usize = 4;
/// Shorter words of a value (`Bearer`) are left alone, and shorter variables may be in a reply by chance.
const SHORTEST_WORD: usize = 8;

/// What stands where an excerpt was cut off.
const CUT: &str = "...";

/// Values of headers, URL parameters and environment variables. The other side may echo them; what it says goes into reports.
pub(crate) struct Secrets {
    /// Every value in every form. Longest first, so that a word of a value does not break the value.
    values: Vec<String>,
    /// The names of variables that no reply may hold, each with the forms of its value.
    variables: Vec<(String, Vec<String>)>,
}

impl Secrets {
    /// The values of `pairs`, and their longer words: of `Bearer abcdefgh` also `abcdefgh`. Of them, what came from the
    /// environment is in `variables`; only these are not in the evaluation file anyway.
    pub(crate) fn of(pairs: &[(String, String)], variables: &[(String, String)]) -> Self {
        let mut values = Vec::new();
        for (_, value) in pairs.iter().chain(variables) {
            if value.trim().len() >= SHORTEST {
                values.extend(forms(value.trim()));
            }
            values.extend(value.split_whitespace().filter(|word| word.len() >= SHORTEST_WORD).flat_map(forms));
        }
        values.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        values.dedup();
        let long = variables.iter().filter(|(_, value)| value.trim().len() >= SHORTEST_WORD);
        let variables = long.map(|(name, value)| (name.clone(), forms(value.trim()))).collect();
        Secrets { values, variables }
    }

    /// `text` with every secret masked.
    pub(crate) fn masked(&self, text: &str) -> String {
        self.values.iter().fold(text.to_string(), |text, value| unfinished(&text.replace(value, MASK), value))
    }

    /// Refuses a reply that would carry a secret into the store and the report. One that says `error` is not kept, and its
    /// message is masked.
    ///
    /// # Errors
    /// `bad_reply` with the name of the variable.
    pub(crate) fn refuse_in(&self, reply: &Value) -> Result<(), RowError> {
        if reply.get("error").is_some_and(Value::is_string) {
            return Ok(());
        }
        match self.variables.iter().find(|(_, forms)| holds(reply, forms)) {
            None => Ok(()),
            Some((name, _)) => Err(bad_reply(format!(
                "the reply holds the value of the environment variable {name}, which would go into the report: take it out \
                 of the reply or, where it is no secret, write it into the evaluation file instead of ${{{name}}}"
            ))),
        }
    }

    /// The name of a variable whose value is in `text`, as it is or in any of the forms of JSON and URLs.
    pub(crate) fn variable_in(&self, text: &[u8]) -> Option<&str> {
        let found = self.variables.iter().find(|(_, forms)| within(text, forms));
        found.map(|(name, _)| name.as_str())
    }
}

/// Whether `text` contains one of `forms`, each of which is a text.
fn within(text: &[u8], forms: &[String]) -> bool {
    forms.iter().any(|form| memchr::memmem::find(text, form.as_bytes()).is_some())
}

/// Whether a text or a key anywhere in `value` contains one of `forms`.
fn holds(value: &Value, forms: &[String]) -> bool {
    let within = |text: &str| forms.iter().any(|form| text.contains(form));
    match value {
        Value::String(text) => within(text),
        Value::Array(items) => items.iter().any(|item| holds(item, forms)),
        Value::Object(entries) => entries.iter().any(|(key, value)| within(key) || holds(value, forms)),
        // A number that is a secret, as it was written.
        Value::Number(number) => within(&number.to_string()),
        Value::Null | Value::Bool(_) => false,
    }
}

/// How `value` may come back: as it is, on one line, in a URL, and within JSON, also where that is quoted in JSON again.
fn forms(value: &str) -> Vec<String> {
    let line = value.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = [
        value.to_string(),
        line,
        percent(value, false),
        percent(value, true),
        percent(value, true).replace("%20", "+"),
    ];
    let mut forms: Vec<String> = plain.iter().flat_map(|form| escaped(form)).collect();
    forms.extend(escaped(value).iter().flat_map(|form| escaped(form)));
    forms.sort();
    forms.dedup();
    forms
}

/// `text` and what JSON writers make of it: with and without escapes of what is not ASCII, and of slashes.
fn escaped(text: &str) -> Vec<String> {
    let quoted = Value::from(text).to_string();
    let json = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    let ascii = |hex: fn(u16) -> String| {
        let escape = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| hex(*unit)).collect::<String>();
        json.chars().map(|c| if c.is_ascii() { c.to_string() } else { escape(c) }).collect::<String>()
    };
    let lower = ascii(|unit| format!("\\u{unit:04x}"));
    let upper = ascii(|unit| format!("\\u{unit:04X}"));
    let forms = [json.to_string(), lower, upper];
    let slashes = forms.clone().map(|form| form.replace('/', "\\/"));
    std::iter::once(text.to_string()).chain(forms).chain(slashes).collect()
}

/// `text` as part of a URL (RFC 3986, 2.1).
fn percent(text: &str, upper: bool) -> String {
    let byte = |byte: u8| match char::from(byte) {
        c if c.is_ascii_alphanumeric() || "-._~".contains(c) => c.to_string(),
        _ if upper => format!("%{byte:02X}"),
        _ => format!("%{byte:02x}"),
    };
    text.bytes().map(byte).collect()
}

/// Masks the start of `value` where an excerpt was cut off within it.
fn unfinished(text: &str, value: &str) -> String {
    let parts: Vec<&str> = text.split(CUT).collect();
    let last = parts.len().saturating_sub(1);
    let masked = parts.iter().enumerate().map(|(i, part)| {
        let ends = value.char_indices().map(|(end, _)| end).filter(|end| i < last && *end >= SHORTEST).rev();
        let found = ends.filter_map(|end| value.get(..end)).find_map(|start| part.strip_suffix(start));
        found.map_or_else(|| part.to_string(), |before| format!("{before}{MASK}"))
    });
    masked.collect::<Vec<_>>().join(CUT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_string(), value.to_string())
    }

    #[test]
    fn values_and_their_words_are_masked() {
        let secrets = Secrets::of(&[pair("Authorization", "Bearer sk-12345678"), pair("X-On", "1")], &[]);
        assert_eq!(secrets.masked("got Bearer sk-12345678, 1 of"), "got ***, 1 of");
        assert_eq!(secrets.masked("got sk-1234... and a..."), "got ***... and a...");
        assert_eq!(secrets.masked("key sk-12345678 is bad; Bearer needed"), "key *** is bad; Bearer needed");
    }

    #[test]
    fn escaped_values_are_masked() {
        let value = "pa\"s\\w/é𝄞 long";
        let secrets = Secrets::of(&[pair("K", value)], &[]);
        let once = json!(value).to_string();
        for echo in [
            once.clone(),
            json!(once).to_string(),
            r#""pa\"s\\w/\u00e9\ud834\udd1e long""#.to_string(),
            r#""pa\"s\\w\/\u00E9\uD834\uDD1E long""#.to_string(),
            r#"\"pa\\\"s\\\\w/\\u00e9\\ud834\\udd1e long\""#.to_string(),
            "k=pa%22s%5Cw%2F%C3%A9%F0%9D%84%9E%20long".to_string(),
            "k=pa%22s%5cw%2f%c3%a9%f0%9d%84%9e%20long".to_string(),
            "k=pa%22s%5Cw%2F%C3%A9%F0%9D%84%9E+long".to_string(),
        ] {
            let masked = secrets.masked(&format!("bad key {echo}!"));
            assert!(masked.contains(MASK) && !masked.contains("pa") && !masked.contains("long"), "{echo}: {masked}");
        }
    }

    #[test]
    fn replies_with_a_variable_are_refused_wherever_it_stands() {
        let secrets = Secrets::of(
            &[pair("Accept", "application/json")],
            &[pair("TOKEN", "sk-12/345678"), pair("PIN", "1234567"), pair("NUMBER", "123456789")],
        );
        for reply in [
            json!({"results": [{"id": "a", "text": "key sk-12/345678."}]}),
            json!({"results": [{"id": "a", "text": "", "source": {"url": "http://a/?k=sk-12%2F345678"}}]}),
            json!({"results": [], "answer": "{\"k\": \"sk-12\\/345678\"}"}),
            json!({"results": [], "citations": [{"text": "sk-12/345678"}]}),
            json!({"results": [], "metadata": {"headers": {"sk-12/345678": 1}}}),
        ] {
            let message = secrets.refuse_in(&reply).expect_err("refused").message;
            assert!(message.contains("variable TOKEN,") && !message.contains("345678"), "{message}");
        }
        assert_eq!(secrets.variable_in(br#"{"text": "key sk-12\/345678."}"#), Some("TOKEN"));
        assert_eq!(secrets.variable_in(b"{\"text\": \"1234567 and application/json\"}"), None);
        let number = secrets.refuse_in(&json!({"results": [], "metadata": {"n": 123456789}})).expect_err("refused");
        assert!(number.message.contains("variable NUMBER,"), "{}", number.message);
        // Too short, in the evaluation file anyway, or masked elsewhere.
        for reply in
            [json!({"answer": "1234567"}), json!({"answer": "application/json"}), json!({"error": "sk-12/345678"})]
        {
            assert_eq!(secrets.refuse_in(&reply), Ok(()));
        }
    }
}
