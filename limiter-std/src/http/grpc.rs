//! What a gRPC status says, and where it stands.

use ::http::header::{CONTENT_TYPE, HeaderMap, HeaderName};
use ::http::{StatusCode, response};

pub(super) const STATUS: HeaderName = HeaderName::from_static("grpc-status");
const CONTENT: &[u8] = b"application/grpc";

/// A gRPC status code: <https://grpc.github.io/grpc/core/md_doc_statuscodes.html>.
#[allow(missing_docs, reason = "named by their specification")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum GrpcStatus {
    Ok = 0,
    Cancelled = 1,
    Unknown = 2,
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    AlreadyExists = 6,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Aborted = 10,
    OutOfRange = 11,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    DataLoss = 15,
    Unauthenticated = 16,
}

impl GrpcStatus {
    const ALL: [Self; 17] = [
        Self::Ok,
        Self::Cancelled,
        Self::Unknown,
        Self::InvalidArgument,
        Self::DeadlineExceeded,
        Self::NotFound,
        Self::AlreadyExists,
        Self::PermissionDenied,
        Self::ResourceExhausted,
        Self::FailedPrecondition,
        Self::Aborted,
        Self::OutOfRange,
        Self::Unimplemented,
        Self::Internal,
        Self::Unavailable,
        Self::DataLoss,
        Self::Unauthenticated,
    ];

    /// The status in these headers or trailers.
    ///
    /// [`Unknown`](Self::Unknown) where there is none, or one that cannot be read or that has no name,
    /// as gRPC's clients take it.
    pub fn of(headers: &HeaderMap) -> Self {
        let code = headers.get(STATUS).and_then(|value| {
            let digits = value.as_bytes();
            let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
            plain.then(|| value.to_str().ok()?.parse::<usize>().ok())?
        });
        code.and_then(|code| Self::ALL.get(code).copied())
            .unwrap_or(Self::Unknown)
    }

    /// The number on the wire.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// Whether these headers are those of a gRPC message: its content type is `application/grpc`, with or
/// without a suffix. (`application/grpc-web` is not: its trailers are part of the body.)
pub(super) fn is_grpc(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.as_bytes().split_at_checked(CONTENT.len()))
        .is_some_and(|(kind, rest)| {
            kind.eq_ignore_ascii_case(CONTENT) && matches!(rest.first(), None | Some(b'+' | b';'))
        })
}

/// Where a response's gRPC status is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Nowhere: it is not a gRPC response, or one that never reached a gRPC server.
    None,
    /// In the head: there will be no body ("trailers-only").
    Head(GrpcStatus),
    /// Behind the body.
    Trailers,
}

/// Finds the status of a response: <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>.
pub(super) fn place(head: &response::Parts) -> Place {
    if head.headers.contains_key(STATUS) {
        Place::Head(GrpcStatus::of(&head.headers))
    } else if head.status == StatusCode::OK && is_grpc(&head.headers) {
        Place::Trailers
    } else {
        Place::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::http::HeaderValue;

    fn with(name: HeaderName, value: &[u8]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_bytes(value).unwrap());
        headers
    }

    #[test]
    fn every_code_is_read_back_and_anything_else_is_unknown() {
        for (code, status) in GrpcStatus::ALL.into_iter().enumerate() {
            let text = code.to_string();
            assert_eq!(GrpcStatus::of(&with(STATUS, text.as_bytes())), status);
            assert_eq!(usize::from(status.code()), code);
        }
        for odd in [
            &b"17"[..],
            b"99999999999999999999",
            b"-1",
            b"+0",
            b"",
            b"OK",
            b" 0",
            b"0x0",
            b"\xff",
        ] {
            let read = GrpcStatus::of(&with(STATUS, odd));
            assert_eq!(read, GrpcStatus::Unknown, "{odd:?}");
        }
        assert_eq!(GrpcStatus::of(&HeaderMap::new()), GrpcStatus::Unknown);
    }

    #[test]
    fn grpc_is_known_by_its_content_type_and_grpc_web_is_not_grpc() {
        for kind in [
            &b"application/grpc"[..],
            b"application/grpc+proto",
            b"Application/GRPC;charset=utf-8",
        ] {
            assert!(is_grpc(&with(CONTENT_TYPE, kind)), "{kind:?}");
        }
        for kind in [
            &b"application/grpc-web"[..],
            b"application/grpc-web+proto",
            b"application/grp",
            b"application/json",
            b"",
        ] {
            assert!(!is_grpc(&with(CONTENT_TYPE, kind)), "{kind:?}");
        }
        assert!(!is_grpc(&HeaderMap::new()));
    }
}
