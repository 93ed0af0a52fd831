//! HTML: the words that a reader sees, as lines of text.
//!
//! The document is read as a stream of tokens (html5ever's, so entities, comments and script text are those of the WHATWG
//! standard) without building a tree: a break of any element is a break of the text, whether the element is closed or not.
//! No line is wrapped, and no cell is padded, so sentences stay whole and a table row is one line `a | b | c`.

use std::cell::{Cell, RefCell};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};

use super::open_tag::{OpenTag, TooManyAttributes};
use super::page_writer::{Gap, PageWriter};
use super::parser::Parsed;

/// One page; the title is that of `<title>`. What stands around the main text of a page, its menus and its foot, is left out,
/// unless there is nothing else.
///
/// # Errors
/// When a tag has so many attributes that reading it would take for ever.
pub(super) fn parse(text: &str) -> Result<Parsed, TooManyAttributes> {
    let main = read(text, false)?;
    if main.pages.iter().all(|page| page.text.is_empty()) { read(text, true) } else { Ok(main) }
}

fn read(text: &str, with_frame: bool) -> Result<Parsed, TooManyAttributes> {
    let input = BufferQueue::default();
    let document = Document::new(text.trim_start().starts_with("<?xml"), with_frame);
    let sink = HtmlSink { document: RefCell::new(document), gave_token: Cell::new(false) };
    let tokenizer = Tokenizer::new(sink, Default::default());
    // A tag gives its token at its end, so the tokenizer is fed in pieces and watched: while text gives tokens, a tag gives
    // none. Where tags begin and end is thus the tokenizer's own word, also in scripts and comments.
    let mut tag: Option<OpenTag> = None;
    for piece in pieces(text) {
        input.push_back(StrTendril::from_slice(piece));
        tokenizer.sink.gave_token.set(false);
        // The sink runs no scripts, so the tokenizer never pauses before the end of its input.
        let _ = tokenizer.feed(&input);
        if tokenizer.sink.gave_token.get() {
            tag = None;
        }
        tag = match tag {
            Some(tag) => tag.read(piece)?,
            None => (piece == "<").then(OpenTag::new),
        };
    }
    tokenizer.end();
    Ok(tokenizer.sink.document.into_inner().finish())
}

/// The pieces of `text`: each `<` alone, and what follows it up to `>` or the next `<`, but no more than a block.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    const BLOCK: usize = 1024;
    let mut rest = text;
    std::iter::from_fn(move || {
        let most = (0..=rest.len().min(BLOCK)).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(0);
        let bytes = rest.as_bytes().get(..most).unwrap_or_default();
        let end = match bytes.iter().position(|byte| matches!(byte, b'<' | b'>')) {
            Some(0) => 1,
            Some(at) if bytes.get(at) == Some(&b'>') => at + 1,
            Some(at) => at,
            None => most,
        };
        let (piece, after) = rest.split_at_checked(end)?;
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Elements whose content no reader sees as text.
const SKIPPED: [&str; 10] =
    ["script", "style", "template", "svg", "iframe", "noembed", "noframes", "textarea", "select", "datalist"];

/// Elements with a main text of their own: a footer within one belongs to it, and none of them is in a menu.
const SECTIONS: [&str; 4] = ["main", "article", "section", "blockquote"];

struct HtmlSink {
    document: RefCell<Document>,
    /// Whether there was a token since this was last set.
    gave_token: Cell<bool>,
}

impl TokenSink for HtmlSink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut document = self.document.borrow_mut();
        if !matches!(token, Token::ParseError(_)) {
            self.gave_token.set(true);
        }
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => return document.start(&tag),
            Token::TagToken(tag) => document.end(&tag.name),
            Token::CharacterTokens(text) => document.text(&text),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// An element whose content is being passed over.
struct Skipped {
    name: String,
    depth: u32,
    /// Whether it is a menu or a foot: where its end tag is missing, it ends where the main text begins.
    is_frame: bool,
}

/// A document as far as it has been read.
struct Document {
    page: PageWriter,
    title: Option<String>,
    in_title: bool,
    skipped: Option<Skipped>,
    /// The open lists: the number of the next item, or `None` for bullets.
    lists: Vec<Option<i64>>,
    /// Whether `<x/>` closes any element, as in XHTML.
    xml: bool,
    /// Whether menus and the foot of the page are read too.
    with_frame: bool,
    /// How many of [`SECTIONS`] are open.
    sections: u32,
}

impl Document {
    fn new(xml: bool, with_frame: bool) -> Self {
        Document {
            page: PageWriter::new(),
            title: None,
            in_title: false,
            skipped: None,
            lists: Vec::new(),
            xml,
            with_frame,
            sections: 0,
        }
    }

    /// Whether an element stands around the main text.
    fn is_frame(&self, tag: &Tag) -> bool {
        let role = attribute(tag, "role").unwrap_or_default();
        let is_frame = match &*tag.name {
            "nav" => true,
            "footer" => self.sections == 0,
            "div" | "ul" | "section" | "aside" => role == "navigation" || role == "contentinfo",
            _ => false,
        };
        is_frame && !self.with_frame
    }

    fn text(&mut self, text: &str) {
        if self.skipped.is_some() {
            return;
        }
        if self.in_title {
            self.title.get_or_insert_default().push_str(text);
        } else {
            self.page.text(text);
        }
    }

    fn start(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        let in_svg = name == "svg" || self.skipped.as_ref().is_some_and(|skipped| skipped.name == "svg");
        if tag.self_closing && (self.xml || in_svg) {
            if self.skipped.is_none() && !SKIPPED.contains(&name) && name != "title" {
                self.open(tag);
                self.close(name);
            }
            return TokenSinkResult::Continue;
        }
        if self.skipped.as_ref().is_some_and(|skipped| skipped.is_frame) && matches!(name, "main" | "article") {
            self.skipped = None;
        }
        if let Some(skipped) = &mut self.skipped {
            skipped.depth += u32::from(skipped.name == name);
        } else if SKIPPED.contains(&name) {
            self.skipped = Some(Skipped { name: name.to_string(), depth: 1, is_frame: false });
        } else if self.is_frame(tag) {
            self.page.break_with(Gap::Paragraph);
            self.skipped = Some(Skipped { name: name.to_string(), depth: 1, is_frame: true });
        } else if name == "title" {
            self.in_title = self.title.is_none();
            if !self.in_title {
                self.skipped = Some(Skipped { name: name.to_string(), depth: 1, is_frame: false });
            }
        } else {
            self.sections += u32::from(SECTIONS.contains(&name));
            self.open(tag);
        }
        match name {
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => TokenSinkResult::RawData(RawKind::Rawtext),
            "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
            "plaintext" => TokenSinkResult::Plaintext,
            _ => TokenSinkResult::Continue,
        }
    }

    fn end(&mut self, name: &str) {
        if let Some(skipped) = &mut self.skipped {
            if skipped.name == name {
                skipped.depth -= 1;
                if skipped.depth == 0 {
                    self.skipped = None;
                }
            }
        } else if name == "title" {
            self.in_title = false;
        } else {
            if SECTIONS.contains(&name) {
                self.sections = self.sections.saturating_sub(1);
            }
            self.close(name);
        }
    }

    fn open(&mut self, tag: &Tag) {
        let page = &mut self.page;
        match &*tag.name {
            "br" => page.line_break(),
            "img" => {
                if let Some(alt) = attribute(tag, "alt") {
                    page.text(alt);
                }
            }
            "table" => page.begin_table(),
            "tr" => page.next_row(),
            "td" | "th" => page.begin_cell(),
            "pre" | "listing" | "xmp" | "plaintext" => page.begin_preformatted(),
            "ul" | "menu" | "ol" => {
                page.break_with(if self.lists.is_empty() { Gap::Paragraph } else { Gap::Line });
                let numbered = &*tag.name == "ol";
                let first = attribute(tag, "start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
                self.lists.push(numbered.then_some(first));
            }
            "li" => {
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let marker = format!("{number}. ");
                        *number = number.saturating_add(1);
                        marker
                    }
                    _ => "- ".to_string(),
                };
                page.begin_item(marker);
            }
            name => match heading_level(name) {
                Some(level) => page.begin_heading(level),
                None => page.break_with(gap_of(name)),
            },
        }
    }

    fn close(&mut self, name: &str) {
        let page = &mut self.page;
        match name {
            "br" | "img" | "td" | "th" => {}
            "table" => page.end_table(),
            "tr" => page.next_row(),
            "pre" | "listing" | "xmp" => page.end_preformatted(),
            "ul" | "menu" | "ol" => {
                self.lists.pop();
                page.end_item();
                if self.lists.is_empty() {
                    page.break_with(Gap::Paragraph);
                }
            }
            "li" => page.end_item(),
            name if heading_level(name).is_some() => page.end_heading(),
            name => page.break_with(gap_of(name)),
        }
    }

    fn finish(self) -> Parsed {
        let title = self.title.map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
        Parsed { title: title.filter(|title| !title.is_empty()), pages: vec![self.page.finish()], encoding: None }
    }
}

fn attribute<'a>(tag: &'a Tag, name: &str) -> Option<&'a str> {
    tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
}

fn heading_level(name: &str) -> Option<u8> {
    match name {
        "h1" => Some(1),
        "h2" => Some(2),
        "h3" => Some(3),
        "h4" => Some(4),
        "h5" => Some(5),
        "h6" => Some(6),
        _ => None,
    }
}

/// The gap before and after an element, as user agents render it; none for inline elements.
fn gap_of(name: &str) -> Gap {
    match name {
        "p" | "blockquote" | "hr" | "dl" | "figure" | "fieldset" | "hgroup" => Gap::Paragraph,
        "address" | "article" | "aside" | "body" | "caption" | "center" | "dd" | "details" | "dialog" | "dir"
        | "div" | "dt" | "figcaption" | "footer" | "form" | "head" | "header" | "legend" | "main" | "nav"
        | "optgroup" | "option" | "search" | "section" | "summary" | "tbody" | "tfoot" | "thead" => Gap::Soft,
        _ => Gap::None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(html: &str) -> Parsed {
        parse(html).expect("a page")
    }

    fn text(html: &str) -> String {
        parsed(html).pages.remove(0).text
    }

    #[test]
    fn words_without_scripts_styles_and_comments() {
        let html = "<!doctype html><html><head><title>A &amp;\n B</title><style>p { color: red }</style>\
            <script>if (a < b) document.write('<p>no')</script></head>\
            <body><p>Fish &amp; <b>ch</b>ips&nbsp;&mdash;\n  fresh.<!-- no --><p>Second<svg><title>no</title><style/></svg>.\
            <noscript>seen</noscript><textarea>no</textarea></body></html>";
        let page = parsed(html);
        assert_eq!(page.title.as_deref(), Some("A & B"));
        assert_eq!(page.pages[0].text, "Fish & chips — fresh.\n\nSecond.seen");
    }

    #[test]
    fn headings_with_offsets() {
        let html =
            "<p>Zoë.</p><h1>One <i>two</i></h1><div><h2><div>Three</div></h2>text</div><h3></h3><h2>open<p>after";
        let page = parsed(html).pages.remove(0);
        assert_eq!(page.text, "Zoë.\n\nOne two\n\nThree\n\ntext\n\nopen\n\nafter");
        let headings: Vec<_> = page.headings.iter().map(|h| (h.offset, h.level, h.title.as_str())).collect();
        assert_eq!(headings, [(6, 1, "One two"), (15, 2, "Three"), (28, 2, "open")]);
    }

    #[test]
    fn rows_are_lines() {
        let html = "<table><caption>Sales</caption><tr><th></th><th>2020</th><th>Net<br>sales</th></tr>\
            <tr><td><p>Q1</p></td><td><div>7</div></td><td></td><td>x</td><td></td></tr>\n<tr><td>Q2<td>8</table>after";
        assert_eq!(text(html), "Sales\n| 2020 | Net sales\nQ1 | 7 | | x\nQ2 | 8\n\nafter");
    }

    #[test]
    fn a_layout_table_keeps_its_paragraphs() {
        let html = "<table><tr><td>menu</td><td><p>One.</p><p>Two.</p><table><tr><td>a<td>b<tr><td>c<td>d</table></td>\
            <td>right</td></tr></table>";
        assert_eq!(text(html), "menu | One.\n\nTwo.\n\na | b\nc | d\n\nright");
    }

    #[test]
    fn menus_and_the_foot_of_the_page_are_no_main_text() {
        let html = "<body><header><h1>Fees</h1></header><nav><ul><li>Home<li>Fees<nav>x</nav></ul></nav><p>Main.\
            <article>Part<footer>By Ann</footer></article><div role=navigation>more<div>y</div></div><p>End.\
            <footer>Imprint</footer></body>";
        assert_eq!(text(html), "Fees\n\nMain.\nPart\nBy Ann\n\nEnd.");
        assert_eq!(text("<nav>menu<main>unclosed"), "unclosed");
        assert_eq!(text("<nav><ul><li>an index</ul></nav><footer>foot"), "- an index\n\nfoot", "there is nothing else");
    }

    #[test]
    fn lists_and_breaks() {
        let html = "before<ul><li>one<ol start=3><li>x<li><p>y</p></ol><li></li><li>two</ul>a<br>b<br><br>c<hr>d";
        assert_eq!(text(html), "before\n\n- one\n3. x\n4. y\n\n- two\n\na\nb\n\nc\n\nd");
    }

    #[test]
    fn preformatted_text_keeps_its_lines() {
        assert_eq!(text("<p>a</p><pre>\n  x  =  1\n\ny\n</pre><p>b"), "a\n\n  x  =  1\n\ny\n\nb");
    }

    #[test]
    fn no_markup_is_plain_text_and_nothing_is_nothing() {
        assert_eq!(text("a < b & c\nd"), "a < b & c d");
        assert_eq!(text("<p></p><table><tr><td></table>"), "");
        assert_eq!(text("</div></table></li></h1></pre>x"), "x");
    }

    #[test]
    fn xhtml_closes_elements_in_their_start_tag() {
        assert_eq!(text("<?xml version='1.0'?><html><script src='x'/><title/><p/>seen</html>"), "seen");
    }

    #[test]
    fn deep_nesting_is_no_recursion() {
        let depth = 100_000;
        let html = format!("{}x{}", "<div><table><tr><td>".repeat(depth), "</div>".repeat(depth));
        assert_eq!(text(&html), "x");
    }

    #[test]
    fn a_tag_of_a_thousand_attributes_is_no_page() {
        let attributes: String = (0..2000).map(|i| format!(" a{i}=b")).collect();
        for before in
            ["", "x", "<", "</>", "<!>", "<!---->", "<a b='>' c=\"<\"", "<script></script>", "<!doctype html>"]
        {
            for tag in ["<p", "</p"] {
                let html = format!("{before}{tag}{attributes}>x");
                assert_eq!(parse(&html), Err(TooManyAttributes), "{before}{tag}");
            }
        }
        assert_eq!(parse(&format!("<style>a{{}}<p '</style{attributes}")), Err(TooManyAttributes));
        assert_eq!(parse(&format!("<a title='<b k=' {attributes}")), Err(TooManyAttributes));
    }

    #[test]
    fn words_that_are_no_attributes_are_not_counted() {
        let words: String = (0..2000).map(|i| format!(" a{i}=b")).collect();
        for (before, after) in [
            ("<!--", "-->"),
            ("<?x", ">"),
            ("<script>if(a<b", "</script>"),
            ("<svg><path d='", "'/></svg>"),
            ("<style>x<y", "</style>"),
            ("<p title=\"<", "\">"),
            ("<textarea></b", "</textarea>"),
        ] {
            assert_eq!(text(&format!("a{before}{words}{after}b")).replace(['\n', ' '], ""), "ab", "{before}");
        }
        assert_eq!(text(&format!("a < {words}")).split_whitespace().count(), 2002);
    }

    #[test]
    fn a_heading_in_a_list_or_a_cell() {
        let page = parsed("<ul><li><h2>One</h2>x</ul><table><tr><td>a<td><h3>Two</h3>").pages.remove(0);
        assert_eq!(page.text, "- One\n\nx\n\na | Two");
        let headings: Vec<_> = page.headings.iter().map(|h| (h.offset, h.level, h.title.as_str())).collect();
        assert_eq!(headings, [(0, 2, "One"), (14, 3, "Two")]);
    }

    #[test]
    fn a_heading_without_words_is_none() {
        let page = parsed("<pre>word<h1> </h1></pre><h2></h2>").pages.remove(0);
        assert_eq!((page.text.as_str(), page.headings.len()), ("word", 0));
    }

    /// Pieces of tag soup.
    const PIECES: [&str; 28] = [
        "<p>", "</p>", "<h1>", "</h1>", "<h2>", "</h2>", "<ul>", "</ul>", "<ol>", "<li>", "</li>", "<table>",
        "</table>", "<tr>", "<td>", "</td>", "<pre>", "</pre>", "<br>", "<div>", "</div>", "<b>", "<title>",
        "</title>", "<svg>", "</svg>", "\n", " ",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn tag_soup_gives_lines_and_true_offsets(
            pieces in proptest::collection::vec(
                prop_oneof![proptest::sample::select(PIECES.as_slice()), Just("wörd"), Just("日本")],
                0..50,
            ),
        ) {
            let html = pieces.concat();
            let page = parsed(&html).pages.remove(0);
            prop_assert_eq!(page.text.trim_end(), &page.text);
            let characters: Vec<char> = page.text.chars().collect();
            let mut before = None;
            for heading in &page.headings {
                prop_assert!(before < Some(heading.offset), "{}", html);
                before = Some(heading.offset);
                let rest: String = characters[heading.offset as usize..].iter().collect();
                let words = rest.split_whitespace().collect::<Vec<_>>().join(" ");
                let words = words.trim_start_matches(|c: char| c.is_ascii_digit() || "-. ".contains(c));
                prop_assert!(words.starts_with(&heading.title), "{:?} in {:?} of {}", heading, page.text, html);
            }
        }
    }
}
