//! How a file looks from outside, before a command and after it. Pure.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use moss_sdk::file::EntryKind;

use crate::handle::Stat;

/// How a file looks from outside. A program can give it its old time, and not the time of that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLook {
    /// Whether it is a regular file.
    pub is_file: bool,
    /// Its size, in bytes.
    pub size_bytes: Option<u64>,
    /// When its content was written last, as it says itself.
    pub modified: Option<SystemTime>,
    /// When it or what it says of itself changed last, as the system knows.
    pub changed: Option<SystemTime>,
}

// === impl FileLook ===

impl FileLook {
    pub(crate) fn of(stat: &Stat) -> Self {
        let is_file = stat.kind == EntryKind::File;
        Self {
            is_file,
            size_bytes: is_file.then_some(stat.size_bytes),
            modified: Some(stat.modified),
            changed: Some(stat.changed_time()),
        }
    }

    /// The size of a file whose content can be read.
    pub fn file_bytes(&self) -> Option<u64> {
        self.size_bytes.filter(|_| self.is_file)
    }

    /// Whether a program has written it, or only given it a time.
    pub fn is_retimed(&self, now: &Self) -> bool {
        self.file_bytes().is_some()
            && self.file_bytes() == now.file_bytes()
            && self.modified != now.modified
    }

    /// How long the second still lasts in which it was written; none where that is over.
    pub fn rest_of_second(&self, now: SystemTime) -> Option<Duration> {
        let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).ok();
        let (written, now) = (since(self.modified?)?, since(now)?);
        let rest =
            Duration::from_secs(1).saturating_sub(Duration::from_nanos(now.subsec_nanos().into()));
        (written.as_secs() == now.as_secs()).then_some(rest)
    }

    /// Whether it has looked so for a while.
    pub fn is_settled(&self, now: SystemTime, after: Duration) -> bool {
        let age = self.changed.and_then(|changed| now.duration_since(changed).ok());
        age.is_some_and(|age| age > after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_in_this_second_has_the_rest_of_it_ahead() {
        let at = |millis| UNIX_EPOCH + Duration::from_millis(millis);
        let written =
            |modified| FileLook { is_file: true, size_bytes: Some(1), modified, changed: None };
        let rest = |millis, now| written(Some(at(millis))).rest_of_second(at(now));
        assert_eq!(rest(7_100, 7_250), Some(Duration::from_millis(750)));
        assert_eq!(rest(7_000, 7_000), Some(Duration::from_secs(1)));
        assert_eq!(rest(7_900, 7_200), Some(Duration::from_millis(800)), "the clock was set back");
        assert_eq!(rest(7_999, 8_000), None);
        assert_eq!(rest(9_000, 8_999), None);
        assert_eq!(written(None).rest_of_second(at(0)), None);
    }
}
