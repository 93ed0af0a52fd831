//! Dates in UTC, as file names and reports write them.

/// `YYYYMMDDTHHMMSS.mmmZ` of a time in seconds and milliseconds since 1970: sorts by time.
pub fn compact(seconds: u64, millis: u32) -> String {
    let (year, month, day, hour, minute, second) = civil(seconds);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}.{millis:03}Z")
}

/// RFC 3339 with milliseconds of a time in seconds and milliseconds since 1970.
pub fn rfc3339(seconds: u64, millis: u32) -> String {
    let (year, month, day, hour, minute, second) = civil(seconds);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Year, month, day, hour, minute, second (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn civil(seconds: u64) -> (u64, u64, u64, u64, u64, u64) {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March put the leap day last; 400 of them have 146,097 days.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day, second / 3_600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants() {
        assert_eq!(rfc3339(0, 0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(951_827_696, 7), "2000-02-29T12:34:56.007Z");
        assert_eq!(rfc3339(1_796_083_199, 999), "2026-11-30T23:59:59.999Z");
        assert_eq!(compact(951_827_696, 0), "20000229T123456.000Z");
    }

    #[test]
    fn days_roll_over_at_leap_days() {
        assert_eq!(compact(0, 0), "19700101T000000.000Z");
        assert_eq!(compact(951_782_399, 0), "20000228T235959.000Z");
        assert_eq!(compact(951_782_400, 0), "20000229T000000.000Z");
        assert_eq!(compact(1_000_000_000, 0), "20010909T014640.000Z");
        assert_eq!(compact(4_107_542_399, 0), "21000228T235959.000Z");
        assert_eq!(compact(4_107_542_400, 0), "21000301T000000.000Z");
    }
}
