//! Durations and sizes as people write them: `10s`, `64MiB`. A number without a unit is refused.

use std::time::Duration;

const DURATIONS: &[(&str, u64)] = &[("ms", 1), ("s", 1000), ("m", 60_000)];
const SIZES: &[(&str, usize)] = &[("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// Reads a whole number with a unit of time.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit) = split(text)?;
    let (_, unit_ms) = DURATIONS.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*unit_ms).map(Duration::from_millis)
}

/// Reads a whole number with a unit of size.
pub fn parse_size(text: &str) -> Option<usize> {
    let (number, unit) = split(text)?;
    let (_, unit_bytes) = SIZES.iter().find(|(name, _)| *name == unit)?;
    number.parse::<usize>().ok()?.checked_mul(*unit_bytes)
}

/// Writes a duration in the largest unit that divides it.
pub fn duration(duration: Duration) -> String {
    let ms = duration.as_millis();
    let whole =
        DURATIONS.iter().rev().find(|(_, unit)| ms > 0 && ms.is_multiple_of(u128::from(*unit)));
    let (unit, unit_ms) = whole.unwrap_or(&DURATIONS[0]);
    format!("{}{unit}", ms / u128::from(*unit_ms))
}

/// Writes a size in the largest unit that divides it.
pub fn size(bytes: usize) -> String {
    let whole = SIZES.iter().rev().find(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit));
    let (unit, unit_bytes) = whole.unwrap_or(&SIZES[0]);
    format!("{}{unit}", bytes / unit_bytes)
}

/// Writes a size as people say it, in the largest unit that it has one of.
pub fn about(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{}.{} MiB", bytes >> 20, ((bytes % (1 << 20)) * 10) >> 20),
    }
}

fn split(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| text.split_at(digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_a_unit_round_trips() {
        for text in ["1ms", "1500ms", "10s", "2m"] {
            assert_eq!(duration(parse_duration(text).unwrap()), text);
        }
        for text in ["1B", "1500B", "64MiB", "3KiB", "2GiB"] {
            assert_eq!(size(parse_size(text).unwrap()), text);
        }
    }

    #[test]
    fn a_size_is_said_in_short() {
        for (bytes, said) in
            [(0, "0 B"), (1023, "1023 B"), (2047, "1 KiB"), (20_132_660, "19.2 MiB")]
        {
            assert_eq!(about(bytes), said);
        }
    }

    #[test]
    fn a_text_without_a_unit_is_refused() {
        for text in ["", "10", "s", "-1s", "1.5s", "10 s", "10S", "99999999999999999999s"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
        for text in ["", "64", "MiB", "64MB", "64mib", "99999999999GiB"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }
}
