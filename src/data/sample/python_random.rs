//! CPython's `random` (spec/openviking 3.3).

use rand_mt::Mt;

/// The Mersenne Twister, seeded and read as CPython does.
pub struct PythonRandom(Mt);

impl PythonRandom {
    /// `random.seed(seed)`.
    pub fn new(seed: u64) -> Self {
        PythonRandom::of_words(&[(seed & u64::from(u32::MAX)) as u32, (seed >> 32) as u32])
    }

    /// `random.seed(seed)` of a seed of any size: the words of its absolute value, low ones first.
    pub fn of_words(words: &[u32]) -> Self {
        let used = words.iter().rposition(|word| *word != 0).map_or(1, |last| last + 1);
        PythonRandom(Mt::new_with_key(words.iter().copied().chain([0]).take(used)))
    }

    /// `getrandbits(bits)`; `bits` is 1 to 32.
    pub fn bits(&mut self, bits: u32) -> u32 {
        self.0.next_u32() >> (32 - bits)
    }

    /// `randrange(below)`; `below` is at least 1.
    pub fn below(&mut self, below: u64) -> u64 {
        let width = u64::BITS - below.leading_zeros();
        loop {
            // Low word first.
            let low = u64::from(self.bits(width.min(32)));
            let drawn = if width > 32 { low | u64::from(self.bits(width - 32)) << 32 } else { low };
            if drawn < below {
                return drawn;
            }
        }
    }

    fn position(&mut self, below: usize) -> usize {
        // It is less than `below`, which is a length.
        self.below(below as u64) as usize
    }

    /// `shuffle(items)`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.position(last + 1);
            items.swap(last, other);
        }
    }

    /// `sample(items, count)`; all of them, in a drawn order, where there are fewer.
    pub fn sample<T: Clone>(&mut self, items: &[T], count: usize) -> Vec<T> {
        let count = count.min(items.len());
        if items.len() <= set_size(count) {
            let mut pool = items.to_vec();
            return (0..count)
                .map(|taken| {
                    let last = items.len() - taken - 1;
                    let drawn = self.position(last + 1);
                    // The last one takes the place of the one that goes.
                    pool.swap(drawn, last);
                    pool[last].clone()
                })
                .collect();
        }
        let mut used = std::collections::HashSet::new();
        (0..count)
            .map(|_| {
                loop {
                    let drawn = self.position(items.len());
                    if used.insert(drawn) {
                        return items[drawn].clone();
                    }
                }
            })
            .collect()
    }
}

/// From how many items on `sample` remembers what it took instead of copying them: 21, and for more than five items another
/// `4 ** ceil(log(3 * count, 4))`.
fn set_size(count: usize) -> usize {
    let mut power = 1usize;
    if count > 5 {
        while power < 3 * count {
            power *= 4;
        }
        21 + power
    } else {
        21
    }
}
