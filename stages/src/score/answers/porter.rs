//! Porter's stemmer with the extensions of NLTK, which is what `rouge_score` stems with. They differ in irregular words
//! (`dying`), after `alli` (`relationally`), in `y` (`enjoy`, `fly`), short words in `ies` and `ied`, `fulli` and `logi`.
//!
//! Porter. An algorithm for suffix stripping. Program 14 (3), 1980; the steps have its numbers.

/// Words that the rules do not fit, with their stems; sorted.
const IRREGULAR: [(&str, &str); 16] = [
    ("canning", "canning"),
    ("cannings", "canning"),
    ("dying", "die"),
    ("exceed", "exceed"),
    ("howe", "howe"),
    ("inning", "inning"),
    ("innings", "inning"),
    ("lying", "lie"),
    ("news", "news"),
    ("outing", "outing"),
    ("outings", "outing"),
    ("proceed", "proceed"),
    ("skies", "sky"),
    ("sky", "sky"),
    ("succeed", "succeed"),
    ("tying", "tie"),
];

/// A suffix and what takes its place.
type Rule = (&'static str, &'static str);

const STEP_1A: [Rule; 4] = [("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")];

const STEP_2: [Rule; 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
];

const STEP_3: [Rule; 7] =
    [("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")];

const STEP_4: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
];

/// The stem of a word of lower-case ASCII letters and digits.
pub(super) fn stem(word: &str) -> String {
    if let Ok(at) = IRREGULAR.binary_search_by(|(known, _)| (*known).cmp(word)) {
        return IRREGULAR.get(at).map_or_else(String::new, |(_, stem)| stem.to_string());
    }
    let mut stem = word.to_string();
    if word.len() > 2 {
        step_1a(&mut stem);
        step_1b(&mut stem);
        step_1c(&mut stem);
        step_2(&mut stem);
        replace(&mut stem, &STEP_3, |stem| measure(stem) > 0);
        step_4(&mut stem);
        step_5(&mut stem);
    }
    stem
}

/// Goes by the first rule whose suffix `word` has: it is replaced where `condition` holds of what is before it.
fn replace(word: &mut String, rules: &[Rule], condition: impl Fn(&str) -> bool) {
    for (suffix, replacement) in rules {
        if let Some(stem) = word.strip_suffix(suffix) {
            if condition(stem) {
                put(word, suffix, replacement);
            }
            return;
        }
    }
}

fn put(word: &mut String, suffix: &str, replacement: &str) {
    word.truncate(word.len().saturating_sub(suffix.len()));
    word.push_str(replacement);
}

fn step_1a(word: &mut String) {
    if word.len() == 4 && word.ends_with("ies") {
        return put(word, "s", "");
    }
    replace(word, &STEP_1A, |_| true);
}

fn step_1b(word: &mut String) {
    if word.ends_with("ied") {
        let kept = if word.len() == 4 { "ie" } else { "i" };
        return put(word, "ied", kept);
    }
    if word.ends_with("eed") {
        return replace(word, &[("eed", "ee")], |stem| measure(stem) > 0);
    }
    let Some(suffix) =
        ["ed", "ing"].into_iter().find(|suffix| word.strip_suffix(suffix).is_some_and(|stem| flags(stem).any(|c| !c)))
    else {
        return;
    };
    put(word, suffix, "");
    if ["at", "bl", "iz"].iter().any(|end| word.ends_with(end)) {
        word.push('e');
    } else if ends_in_double_consonant(word) {
        if !word.ends_with(['l', 's', 'z']) {
            word.pop();
        }
    } else if measure(word) == 1 && ends_cvc(word) {
        word.push('e');
    }
}

fn step_1c(word: &mut String) {
    replace(word, &[("y", "i")], |stem| stem.len() > 1 && flags(stem).last() == Some(true));
}

fn step_2(word: &mut String) {
    while word.strip_suffix("alli").is_some_and(|stem| measure(stem) > 0) {
        put(word, "alli", "al");
    }
    if word.ends_with("logi") {
        // The l is counted with the stem, so that `geologi` is as `archaeologi`.
        return replace(word, &[("ogi", "og")], |stem| measure(stem) > 0);
    }
    replace(word, &STEP_2, |stem| measure(stem) > 0);
}

fn step_4(word: &mut String) {
    let Some((suffix, stem)) = STEP_4.iter().find_map(|suffix| Some((suffix, word.strip_suffix(suffix)?))) else {
        return;
    };
    if measure(stem) > 1 && (*suffix != "ion" || stem.ends_with(['s', 't'])) {
        put(word, suffix, "");
    }
}

fn step_5(word: &mut String) {
    replace(word, &[("e", "")], |stem| measure(stem) > 1 || (measure(stem) == 1 && !ends_cvc(stem)));
    let shorter = word.strip_suffix('l').filter(|stem| stem.ends_with('l') && measure(stem) > 1);
    if shorter.is_some() {
        word.pop();
    }
}

/// Whether each letter is a consonant: a `y` is one where the letter before it is none.
fn flags(word: &str) -> impl Iterator<Item = bool> + '_ {
    word.bytes().scan(false, |before, letter| {
        *before = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => !*before,
            _ => true,
        };
        Some(*before)
    })
}

/// How often a vowel is followed by a consonant.
fn measure(word: &str) -> usize {
    flags(word).zip(flags(word).skip(1)).filter(|pair| *pair == (false, true)).count()
}

fn ends_in_double_consonant(word: &str) -> bool {
    let mut ends = word.bytes().rev();
    ends.next() == ends.next() && flags(word).last() == Some(true)
}

/// Consonant, vowel, consonant other than w, x and y at the end; or a word of a vowel and a consonant.
fn ends_cvc(word: &str) -> bool {
    let flags: Vec<bool> = flags(word).collect();
    match flags.as_slice() {
        [false, true] => true,
        [.., true, false, true] => !word.ends_with(['w', 'x', 'y']),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stems of NLTK 3.9.
    #[test]
    fn stems_of_nltk() {
        assert!(IRREGULAR.is_sorted());
        for (word, expected) in STEMS {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[rustfmt::skip]
    const STEMS: [(&str, &str); 106] = [
        ("caresses", "caress"), ("ponies", "poni"), ("ties", "tie"), ("caress", "caress"), ("cats", "cat"),
        ("dies", "die"), ("flies", "fli"), ("feed", "feed"), ("agreed", "agre"), ("plastered", "plaster"),
        ("bled", "bled"), ("motoring", "motor"), ("sing", "sing"), ("conflated", "conflat"), ("troubled", "troubl"),
        ("sized", "size"), ("hopping", "hop"), ("tanned", "tan"), ("falling", "fall"), ("hissing", "hiss"),
        ("fizzed", "fizz"), ("failing", "fail"), ("filing", "file"), ("happy", "happi"), ("sky", "sky"),
        ("enjoy", "enjoy"), ("spy", "spi"), ("fly", "fli"), ("died", "die"), ("spied", "spi"), ("tried", "tri"),
        ("relational", "relat"), ("relationally", "relat"), ("conditional", "condit"), ("rational", "ration"),
        ("valency", "valenc"), ("hesitancy", "hesit"), ("digitizer", "digit"), ("conformably", "conform"),
        ("radically", "radic"), ("differently", "differ"), ("vilely", "vile"), ("analogously", "analog"),
        ("vietnamization", "vietnam"), ("predication", "predic"), ("operator", "oper"), ("feudalism", "feudal"),
        ("decisiveness", "decis"), ("hopefulness", "hope"), ("callousness", "callous"), ("formality", "formal"),
        ("sensitivity", "sensit"), ("sensibility", "sensibl"), ("hopefully", "hope"), ("geology", "geolog"),
        ("archaeology", "archaeolog"), ("triplicate", "triplic"), ("formative", "form"), ("formalize", "formal"),
        ("electricity", "electr"), ("electrical", "electr"), ("hopeful", "hope"), ("goodness", "good"),
        ("revival", "reviv"), ("allowance", "allow"), ("inference", "infer"), ("airliner", "airlin"),
        ("gyroscopic", "gyroscop"), ("adjustable", "adjust"), ("defensible", "defens"), ("irritant", "irrit"),
        ("replacement", "replac"), ("adjustment", "adjust"), ("dependent", "depend"), ("adoption", "adopt"),
        ("homologous", "homolog"), ("communism", "commun"), ("activate", "activ"), ("angularity", "angular"),
        ("effective", "effect"), ("bowdlerize", "bowdler"), ("probate", "probat"), ("rate", "rate"),
        ("cease", "ceas"), ("controlling", "control"), ("roll", "roll"), ("yyy", "yyy"), ("syzygy", "syzygi"),
        ("yes", "ye"), ("was", "wa"), ("being", "be"), ("used", "use"), ("uses", "use"), ("2019", "2019"),
        ("3rd", "3rd"), ("q4", "q4"), ("news", "news"), ("dying", "die"), ("innings", "inning"),
        ("proceed", "proceed"), ("generalizations", "gener"), ("oscillators", "oscil"), ("aed", "a"), ("eing", "e"),
        ("owed", "owe"), ("axed", "axe"),
    ];
}
