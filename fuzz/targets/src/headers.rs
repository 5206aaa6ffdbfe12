//! Headers that other programs write.

use crate::input::Input;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use limiter_std::http::{Answers, GrpcStatus, Hint, Marks, hint};
use std::time::{Duration, SystemTime};

const NAMES: [&str; 6] = [
    "retry-after",
    "grpc-retry-pushback-ms",
    "grpc-timeout",
    "grpc-status",
    "x-attempt",
    "content-type",
];

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let status = StatusCode::from_u16(input.between(100, 999) as u16).unwrap_or_default();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(input.any::<u32>().into());
    let mut response = http::Response::new(());
    *response.status_mut() = status;
    // `name-number value`, one in a line.
    for line in input.rest().split(|byte| *byte == b'\n') {
        let Some((which, value)) = line.split_first() else {
            continue;
        };
        let name = HeaderName::from_static(NAMES[usize::from(*which) % NAMES.len()]);
        if let Ok(value) = HeaderValue::from_bytes(value) {
            response.headers_mut().append(name, value);
        }
    }
    check(response.headers(), now);
    let (head, ()) = response.into_parts();
    let ending = Answers::new().head(&head);
    assert!(!format!("{ending:?}").is_empty());
}

fn check(headers: &HeaderMap, now: SystemTime) {
    let found = hint(headers, now);
    if headers.contains_key("grpc-retry-pushback-ms") {
        assert!(found.is_some(), "a push-back always says something");
    }
    if let Some(Hint::After(time)) = found {
        // Whatever is added to a clock saturates; nothing here may overflow before.
        let _ = time.as_nanos();
    }
    let marks = Marks::new();
    let _ = marks.number(headers);
    if let Some(left) = marks.left(headers) {
        assert!(left <= Duration::from_secs(99_999_999 * 3_600));
    }
    assert!(GrpcStatus::of(headers).code() <= 16);
}
