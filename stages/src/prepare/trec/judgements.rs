//! The judgements of a collection, in four columns or in three.

use std::collections::HashMap;

use super::adapter::Relevance;
use crate::error::{InputError, Place};
use crate::prepare::lines::{LineEnds, SourceBytes, lines};
use crate::prepare::qrels::{Judgement, Qrels, is_header, whole};

/// The judgements of `source`: rows of query, iteration, document and grade, or of query, document and grade, separated by
/// blanks or tabs. Grades are what `relevance` makes of them.
pub(super) fn read(source: SourceBytes<'_>, relevance: Relevance, errors: &mut Vec<InputError>) -> Qrels {
    let mut qrels = Qrels::default();
    let bytes = match source.unpacked() {
        Ok(bytes) => bytes,
        Err(error) => {
            errors.push(error);
            return qrels;
        }
    };
    let lines = lines(source.path, &bytes, LineEnds::Plain, errors);
    let mut columns = None;
    // Of a torn file every row may be wrong in its own way; those of one kind are told together.
    let mut unknown: HashMap<i64, u64> = HashMap::new();
    for (i, line) in lines.iter().enumerate() {
        if i == 0 && is_header(line.text) {
            continue;
        }
        let error = |message: String| InputError::new(Place::line(source.path, line.number), message);
        let cells: Vec<&str> = line.text.split_whitespace().collect();
        let expected = *columns.get_or_insert(cells.len());
        let (query, document, grade) = match cells.as_slice() {
            cells if cells.len() != expected && matches!(expected, 3 | 4) => {
                let found = cells.len();
                errors.push(error(format!("expected {expected} columns as in the rows before, found {found}")));
                continue;
            }
            [query, _, document, grade] | [query, document, grade] => (*query, *document, *grade),
            cells => {
                let message = format!(
                    "expected query, iteration, document and grade, or query, document and grade, found {} columns",
                    cells.len()
                );
                errors.push(error(message));
                columns = None;
                continue;
            }
        };
        match whole(grade) {
            Err(why) => errors.push(error(format!("grade {grade:?} {why}"))),
            Ok(code) => match relevance.grade(code) {
                Some(grade) => qrels.add(query, Judgement { document: document.to_string(), grade }),
                None if unknown.insert(code, line.number).is_some() => {}
                None => errors.push(
                    error(format!("the code {code} is none of Cranfield's; expected -1 or 1 to 5"))
                        .hint("where greater numbers mean more, leave `relevance` out"),
                ),
            },
        }
    }
    qrels
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read_as(text: &str, relevance: Relevance) -> (Qrels, Vec<String>) {
        let mut errors = Vec::new();
        let qrels = read(SourceBytes { path: Path::new("q"), bytes: text.as_bytes() }, relevance, &mut errors);
        (qrels, errors.iter().map(ToString::to_string).collect())
    }

    fn of(qrels: &Qrels, query: &str) -> Vec<(String, i64)> {
        qrels.of(query).unwrap_or_default().iter().map(|j| (j.document.clone(), j.grade)).collect()
    }

    #[test]
    fn columns_are_four_or_three() {
        for text in
            ["1 0 12 2\r\n1 0 13 -1\r\n", "1\t12\t2\n1 13 -1 \n", "query-id\tcorpus-id\tscore\n1 12 2\n1 13 -1\n"]
        {
            let (qrels, errors) = read_as(text, Relevance::Grades);
            assert!(errors.is_empty(), "{errors:?}");
            assert_eq!(of(&qrels, "1"), [("12".to_string(), 2), ("13".to_string(), -1)], "{text:?}");
        }
    }

    #[test]
    fn cranfields_codes_are_turned_round() {
        let (qrels, errors) = read_as("1 a 1\n1 b 2\n1 c 3\n1 d 4\n1 e 5\n1 f -1\n", Relevance::Cranfield);
        assert!(errors.is_empty(), "{errors:?}");
        let grades: Vec<i64> = of(&qrels, "1").into_iter().map(|(_, grade)| grade).collect();
        assert_eq!(grades, [4, 3, 2, 1, 0, 5]);
        let (_, errors) = read_as("1 a 0\n1 b 7\n1 c 7\n", Relevance::Cranfield);
        assert_eq!(
            errors,
            [
                "q:1: the code 0 is none of Cranfield's; expected -1 or 1 to 5",
                "q:2: the code 7 is none of Cranfield's; expected -1 or 1 to 5",
            ]
        );
    }

    #[test]
    fn every_bad_row_is_told() {
        let (_, errors) = read_as("1 0 12 2\n1 13 1\n1 0 13 high\n1 0 14 inf\n", Relevance::Grades);
        assert_eq!(
            errors,
            [
                "q:2: expected 4 columns as in the rows before, found 3",
                "q:3: grade \"high\" is no number",
                "q:4: grade \"inf\" is not finite",
            ]
        );
        let (_, errors) = read_as("1 12\n1 13 1\n", Relevance::Grades);
        let expected =
            "q:1: expected query, iteration, document and grade, or query, document and grade, found 2 columns";
        assert_eq!(errors, [expected]);
    }
}
