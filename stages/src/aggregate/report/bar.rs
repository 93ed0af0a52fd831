//! A mean with its interval, as a drawing.

use serde::Serialize;

use super::scale::Scale;
use crate::aggregate::MeasureSummary;

/// Width of the drawing in its own units.
const WIDTH: f64 = 200.0;

/// Positions on an axis 200 units wide.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Bar {
    /// Where the bar begins: at zero.
    start: String,
    /// How long it is.
    length: String,
    /// Ends of the interval.
    low: Option<String>,
    /// See `low`.
    high: Option<String>,
    /// The same in words, for those who do not see it.
    label: String,
}

impl Bar {
    /// The drawing of a measure with a headline number.
    pub(super) fn of(measure: &MeasureSummary) -> Option<Self> {
        let value = measure.headline?;
        let scale = Scale::of(measure.distribution.as_ref()?);
        let place = |value: f64| WIDTH * scale.share(value);
        let (zero, end) = (place(0.0), place(value));
        let interval = measure.interval.as_ref();
        let text = |value: f64| format!("{value:.1}");
        let label = match interval {
            Some(interval) => format!("{value:.4}, interval {:.4} to {:.4}", interval.low, interval.high),
            None => format!("{value:.4}"),
        };
        Some(Bar {
            start: text(zero.min(end)),
            length: text((end - zero).abs()),
            low: interval.map(|interval| text(place(interval.low))),
            high: interval.map(|interval| text(place(interval.high))),
            label,
        })
    }
}
