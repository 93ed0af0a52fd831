//! Bytes to characters.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// A document's characters and the encoding they were in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DecodedText {
    /// The characters, without a byte order mark.
    pub(super) text: String,
    /// The WHATWG name of the encoding.
    pub(super) encoding: &'static str,
}

/// What is known of a document's encoding beside its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EncodingHints<'a> {
    /// The encoding that the evaluation file asks for.
    pub(super) forced: Option<&'static Encoding>,
    /// The `charset` parameter of the declared media type.
    pub(super) charset: Option<&'a str>,
    /// Whether the bytes are HTML, which may name its encoding in a `<meta>`.
    pub(super) html: bool,
}

/// Decodes `bytes`; bytes that make no character in the encoding found become U+FFFD.
///
/// In this order: the encoding that was asked for; a byte order mark; the `charset` parameter; UTF-8, if the bytes are
/// valid UTF-8; the encoding that an HTML document names; a guess. A charset that the bytes are not valid in is taken for
/// an error of whoever declared it, and passed over.
pub(super) fn decode(bytes: &[u8], hints: EncodingHints<'_>) -> DecodedText {
    if let Some(forced) = hints.forced {
        return DecodedText { text: forced.decode_with_bom_removal(bytes).0.into_owned(), encoding: forced.name() };
    }
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        let rest = bytes.get(mark..).unwrap_or_default();
        let text = encoding.decode_without_bom_handling(rest).0.into_owned();
        return DecodedText { text, encoding: encoding.name() };
    }
    if let Some(decoded) = hints.charset.and_then(|label| decode_strictly(label, bytes)) {
        return decoded;
    }
    // ISO-2022-JP is valid UTF-8 too: plain ASCII with escapes, which only the detector can tell from stray escapes.
    if !bytes.contains(&0x1b)
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return DecodedText { text: text.to_string(), encoding: UTF_8.name() };
    }
    if hints.html
        && let Some(decoded) = html_charset(bytes).and_then(|label| decode_strictly(&label, bytes))
    {
        return decoded;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    let encoding = detector.guess(None, Utf8Detection::Allow);
    DecodedText { text: encoding.decode_without_bom_handling(bytes).0.into_owned(), encoding: encoding.name() }
}

fn decode_strictly(label: &str, bytes: &[u8]) -> Option<DecodedText> {
    let encoding = Encoding::for_label_no_replacement(label.as_bytes())?;
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    Some(DecodedText { text: text.into_owned(), encoding: encoding.name() })
}

/// The label in the first `<meta>` that names a charset, within the first 1024 bytes (WHATWG HTML, "prescan a byte
/// stream"). A document that can be scanned as ASCII is not in UTF-16, whatever it says.
fn html_charset(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(bytes.get(..1024).unwrap_or(bytes)).to_ascii_lowercase();
    head.split("<meta").skip(1).find_map(|meta| {
        let attributes = meta.split('>').next()?;
        let (_, after) = attributes.split_once("charset")?;
        let value = after.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
        let label = value.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '/')).next()?;
        let encoding = Encoding::for_label(label.as_bytes())?;
        (encoding != UTF_16LE && encoding != UTF_16BE).then(|| label.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], hints: EncodingHints<'_>) -> (String, &'static str) {
        let decoded = decode(bytes, hints);
        (decoded.text, decoded.encoding)
    }

    fn charset(label: &str) -> EncodingHints<'_> {
        EncodingHints { charset: Some(label), ..EncodingHints::default() }
    }

    #[test]
    fn the_order_of_evidence() {
        let none = EncodingHints::default();
        assert_eq!(decoded(b"\xef\xbb\xbfcaf\xc3\xa9", none), ("café".to_string(), "UTF-8"));
        assert_eq!(decoded(b"\xff\xfeh\0i\0", none), ("hi".to_string(), "UTF-16LE"));
        assert_eq!(decoded(b"caf\xc3\xa9", none), ("café".to_string(), "UTF-8"));
        assert_eq!(decoded(b"caf\xe9", charset("latin1")), ("café".to_string(), "windows-1252"));
        // The mark wins over the parameter, the option over both.
        assert_eq!(decoded(b"\xef\xbb\xbfcaf\xc3\xa9", charset("latin1")).0, "café");
        let forced = EncodingHints { forced: Some(encoding_rs::WINDOWS_1252), ..charset("utf-8") };
        assert_eq!(decoded(b"caf\xc3\xa9", forced), ("cafÃ©".to_string(), "windows-1252"));
    }

    #[test]
    fn a_wrong_charset_is_passed_over() {
        let bytes = b"Le caf\xe9 est ferm\xe9 le dimanche";
        assert_eq!(decoded(bytes, charset("utf-8")), ("Le café est fermé le dimanche".to_string(), "windows-1252"));
        assert_eq!(decoded(b"plain", charset("no-such-label")).0, "plain");
    }

    #[test]
    fn guesses() {
        let (bytes, _, _) = encoding_rs::SHIFT_JIS.encode("日本語の文章です。これは試験です。");
        assert_eq!(
            decoded(&bytes, EncodingHints::default()),
            ("日本語の文章です。これは試験です。".to_string(), "Shift_JIS")
        );
        let (bytes, _, _) = encoding_rs::ISO_2022_JP.encode("日本語の文章です。");
        assert_eq!(decoded(&bytes, EncodingHints::default()), ("日本語の文章です。".to_string(), "ISO-2022-JP"));
        assert_eq!(decoded(b"\x1b[1mbold\x1b[0m", EncodingHints::default()).0, "\u{1b}[1mbold\u{1b}[0m");
    }

    #[test]
    fn html_names_its_encoding() {
        let hints = EncodingHints { html: true, ..EncodingHints::default() };
        let html =
            b"<html><meta name=x><meta http-equiv=Content-Type content=\"text/html; charset=ISO-8859-7\">\xe1\xe2";
        let (text, encoding) = decoded(html, hints);
        assert_eq!(encoding, "ISO-8859-7");
        assert!(text.ends_with("αβ"));
    }
}
