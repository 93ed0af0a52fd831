//! PDF files with a cross-reference table, as text but for what a page's content holds.

/// How many forms a document has.
const FORMS: usize = 25;

/// A page.
pub struct MadePage {
    /// Its drawing instructions. There are the fonts `/F1`, Helvetica in WinAnsiEncoding, and `/F2`, Helvetica in its own
    /// encoding, which has the ligature fi at `\256`; the form `/X0`, which draws itself; and the forms `/X1` to `/X24`, each of which draws
    /// the next one twice.
    pub content: String,
    /// Degrees by which it is turned.
    pub rotate: u32,
}

impl MadePage {
    /// A page that is not turned.
    pub fn new(content: &str) -> Self {
        MadePage { content: content.to_string(), rotate: 0 }
    }
}

/// Instructions that write `text`, with its parentheses escaped, at (`x`, `y`) in 10 points.
pub fn line(x: u32, y: u32, text: &str) -> String {
    format!("BT /F1 10 Tf {x} {y} Td ({text}) Tj ET\n")
}

/// A document with these pages, of 600 by 800 points, and a title.
pub fn pdf(title: &str, pages: &[MadePage]) -> Vec<u8> {
    let first = 6 + FORMS;
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", first + 2 * page)).collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_string(),
        format!("<</Type/Pages/Kids[{}]/Count {}>>", kids.join(" "), pages.len()),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_string(),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_string(),
        format!("<</Title({title})>>"),
    ];
    let forms: Vec<String> = (0..FORMS).map(|form| format!("/X{form} {} 0 R", 6 + form)).collect();
    let resources = format!("/Resources<</Font<</F1 3 0 R/F2 4 0 R>>/XObject<<{}>>>>", forms.concat());
    for form in 0..FORMS {
        let content = match form {
            0 => line(50, 100, "itself") + "/X0 Do",
            form if form + 1 == FORMS => line(50, 100, "end"),
            form => format!("/X{0} Do /X{0} Do", form + 1),
        };
        objects.push(stream(&format!("/Type/XObject/Subtype/Form/BBox[0 0 600 800]{resources}"), &content));
    }
    for page in pages {
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Rotate {}/Contents {} 0 R{resources}>>",
            page.rotate,
            objects.len() + 2
        ));
        objects.push(stream("", &page.content));
    }
    let mut file = "%PDF-1.4\n".to_string();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (number, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", number + 1));
    }
    let start = file.len();
    let size = objects.len() + 1;
    file.push_str(&format!("{table}trailer\n<</Size {size}/Root 1 0 R/Info 5 0 R/ID[<00112233445566778899aabbccddeeff><00112233445566778899aabbccddeeff>]>>\nstartxref\n{start}\n%%EOF\n"));
    file.into_bytes()
}

fn stream(entries: &str, content: &str) -> String {
    format!("<<{entries}/Length {}>>\nstream\n{content}\nendstream", content.len())
}
