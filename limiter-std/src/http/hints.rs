//! What a response says about coming back.

use ::http::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use core::time::Duration;
use std::time::SystemTime;

pub(super) const PUSHBACK: HeaderName = HeaderName::from_static("grpc-retry-pushback-ms");

/// What a response's headers say about trying again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Come back after this time.
    After(Duration),
    /// Do not come back.
    Never,
}

/// The hint in these headers: `grpc-retry-pushback-ms` of a gRPC response, else `Retry-After`.
///
/// `now` is what a date is compared with. A date that has passed says "at once". What cannot be read is no
/// hint, but a push-back that cannot be read says not to come back, as
/// [gRPC's specification](https://github.com/grpc/proposal/blob/master/A6-client-retries.md#pushback) has
/// it, and so does a negative one.
///
/// ```
/// use core::time::Duration;
/// use http::HeaderMap;
/// use limiter_std::http::{Hint, hint};
/// use std::time::{SystemTime, UNIX_EPOCH};
///
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", "Thu, 01 Jan 1970 00:00:30 GMT".parse()?);
/// let now = UNIX_EPOCH + Duration::from_secs(28);
/// assert_eq!(hint(&headers, now), Some(Hint::After(Duration::from_secs(2))));
///
/// headers.insert("grpc-retry-pushback-ms", "-1".parse()?);
/// assert_eq!(hint(&headers, SystemTime::now()), Some(Hint::Never));
/// # Ok::<(), http::header::InvalidHeaderValue>(())
/// ```
pub fn hint(headers: &HeaderMap, now: SystemTime) -> Option<Hint> {
    if let Some(pushback) = headers.get(PUSHBACK) {
        let millis = pushback.to_str().ok().and_then(|text| text.parse().ok());
        return Some(
            match millis.and_then(|millis: i32| u64::try_from(millis).ok()) {
                Some(millis) => Hint::After(Duration::from_millis(millis)),
                None => Hint::Never,
            },
        );
    }
    retry_after(headers.get(RETRY_AFTER)?, now).map(Hint::After)
}

/// Seconds, or a date in one of the three forms that
/// [RFC 9110, 10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3) has receivers accept.
fn retry_after(value: &HeaderValue, now: SystemTime) -> Option<Duration> {
    let text = value.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number holds are a long time all the same.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

/// A time that is left, in the form of gRPC's `grpc-timeout`: at most eight digits and a unit (`H`, `M`, `S`,
/// `m`, `u`, `n`; <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>). `None` for anything
/// else.
pub(super) fn grpc_timeout(value: &HeaderValue) -> Option<Duration> {
    let (unit, digits) = value.as_bytes().split_last()?;
    let plain = (1..=8).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    let number: u64 = plain.then(|| core::str::from_utf8(digits).ok()?.parse().ok())??;
    Some(match unit {
        b'H' => Duration::from_secs(number * 3_600),
        b'M' => Duration::from_secs(number * 60),
        b'S' => Duration::from_secs(number),
        b'm' => Duration::from_millis(number),
        b'u' => Duration::from_micros(number),
        b'n' => Duration::from_nanos(number),
        _ => return None,
    })
}

/// In the finest unit of which eight digits are enough, rounded down: no server works for longer than its
/// caller waits.
pub(super) fn to_grpc_timeout(left: Duration) -> HeaderValue {
    const MOST: u128 = 99_999_999;
    let units = [
        (left.as_nanos(), 'n'),
        (left.as_micros(), 'u'),
        (left.as_millis(), 'm'),
        (left.as_secs().into(), 'S'),
        (u128::from(left.as_secs() / 60), 'M'),
    ];
    let fits = units.into_iter().find(|(number, _)| *number <= MOST);
    let hours = u128::from(left.as_secs() / 3_600).min(MOST);
    let (number, unit) = fits.unwrap_or((hours, 'H'));
    HeaderValue::from_str(&format!("{number}{unit}"))
        .unwrap_or_else(|_| HeaderValue::from_static("0n"))
}

pub(super) const GRPC_TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Option<Duration> {
        grpc_timeout(&HeaderValue::from_bytes(text.as_bytes()).unwrap())
    }

    #[test]
    fn every_unit_of_grpc_is_read_and_nothing_else() {
        for (text, time) in [
            ("1H", Duration::from_secs(3_600)),
            ("2M", Duration::from_secs(120)),
            ("3S", Duration::from_secs(3)),
            ("4m", Duration::from_millis(4)),
            ("5u", Duration::from_micros(5)),
            ("6n", Duration::from_nanos(6)),
            ("99999999H", Duration::from_secs(99_999_999 * 3_600)),
            ("0S", Duration::ZERO),
        ] {
            assert_eq!(parse(text), Some(time), "{text}");
        }
        for odd in [
            "",
            "S",
            "1",
            "1s",
            "-1S",
            "+1S",
            "1.5S",
            "999999999n",
            " 1S",
            "1h",
        ] {
            assert_eq!(parse(odd), None, "{odd:?}");
        }
    }

    proptest! {
        #[test]
        fn a_time_that_is_written_is_read_back_no_longer_and_within_a_millionth(
            secs in 0..=u64::MAX, nanos in 0_u32..1_000_000_000,
        ) {
            let left = Duration::new(secs, nanos);
            let read = grpc_timeout(&to_grpc_timeout(left));
            prop_assert!(read.is_some_and(|read| read <= left));
            if secs < 99_999_999 * 3_600 {
                let lost = left.saturating_sub(read.unwrap_or_default());
                prop_assert!(lost <= left / 1_000_000, "{left:?} lost {lost:?}");
            }
        }

        #[test]
        fn no_header_panics(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                let mut headers = HeaderMap::new();
                grpc_timeout(&value);
                headers.insert(RETRY_AFTER, value.clone());
                hint(&headers, SystemTime::UNIX_EPOCH);
                headers.insert(PUSHBACK, value);
                prop_assert!(hint(&headers, SystemTime::UNIX_EPOCH).is_some());
            }
        }
    }

    fn after(text: &str, now: u64) -> Option<Hint> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_str(text).unwrap());
        hint(&headers, SystemTime::UNIX_EPOCH + Duration::from_secs(now))
    }

    #[test]
    fn retry_after_is_read_in_seconds_and_as_a_date_in_all_three_forms() {
        let two = Some(Hint::After(Duration::from_secs(2)));
        assert_eq!(after("2", 0), two);
        // 6 November 1994, 08:49:37, the example of RFC 9110.
        for date in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(after(date, 784_111_775), two, "{date}");
            assert_eq!(after(date, 784_111_999), Some(Hint::After(Duration::ZERO)));
        }
        for odd in ["", "soon", "-1", "1.5", "Sun, 06 Nov 1994"] {
            assert_eq!(after(odd, 0), None, "{odd:?}");
        }
        let digits = "9".repeat(40);
        assert_eq!(
            after(&digits, 0),
            Some(Hint::After(Duration::from_secs(u64::MAX)))
        );
    }

    #[test]
    fn a_negative_push_back_and_one_that_cannot_be_read_forbid_the_retry() {
        let push = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(PUSHBACK, HeaderValue::from_str(text).unwrap());
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            hint(&headers, SystemTime::UNIX_EPOCH)
        };
        assert_eq!(push("250"), Some(Hint::After(Duration::from_millis(250))));
        assert_eq!(push("0"), Some(Hint::After(Duration::ZERO)));
        for stop in ["-1", "-2147483648", "soon", "", "99999999999"] {
            assert_eq!(push(stop), Some(Hint::Never), "{stop:?}");
        }
    }
}
