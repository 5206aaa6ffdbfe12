//! Dependencies and services for the layers of callers.

use crate::spy::ms;
use limiter_std::law::Fixed;
use limiter_std::{Config, Dependency, DependencyConfig, Jitter};
use std::future::{Ready, ready};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) fn dependency(limit: u32) -> Dependency<Fixed> {
    Dependency::try_new(
        DependencyConfig::new(Config::new(Fixed).initial(limit).without_queue())
            .backoff(Jitter::Full, ms(1), ms(1))
            .throttle(None),
    )
    .unwrap()
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.unwrap().block_on(future)
}

/// Fails until the attempt of this number.
pub(crate) fn succeeds_at(
    number: usize,
) -> (
    impl Fn(()) -> Ready<io::Result<usize>> + Clone,
    Arc<AtomicUsize>,
) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let service = move |()| {
        let now = counted.fetch_add(1, Ordering::Relaxed) + 1;
        ready(if now < number {
            Err(io::Error::other("not yet"))
        } else {
            Ok(now)
        })
    };
    (service, count)
}
