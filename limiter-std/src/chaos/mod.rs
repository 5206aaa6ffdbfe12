//! Rehearsals: a layer that does to a service, on a schedule, what bad days do.
//!
//! Put it where a dependency is called, in staging, and watch whether retries behave and whether the system
//! comes back without a hand on it. It does nothing until it is switched on, and then says so in the log
//! (target `limiter_std::chaos`, level `warn`): when it begins, at the first victim of each trouble, when it is
//! over or switched off, with how many there were.
//!
//! ```
//! use core::time::Duration;
//! use limiter_std::chaos::{ChaosLayer, Harm, Schedule};
//! use std::io::{Error, ErrorKind};
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
//! let schedule = Schedule::new()
//!     .delay(minutes(1)..minutes(3), 1_000, Duration::from_millis(250))
//!     .refuse(minutes(3)..minutes(4), 500)
//!     .fail(minutes(5)..minutes(6), 1_000)
//!     .lose(minutes(6)..minutes(7), 100);
//! // How what is not let through looks: an answer of the service's own type, or an error.
//! let layer = ChaosLayer::new(schedule, tokio::time::sleep, |harm| match harm {
//!     Harm::Refused => Err(Error::from(ErrorKind::ResourceBusy)),
//!     _ => Err(Error::from(ErrorKind::ConnectionReset)),
//! });
//! let chaos = layer.chaos();
//! let service = ServiceBuilder::new()
//!     .layer(layer)
//!     .service_fn(async |number: u32| Ok::<_, Error>(number + 1));
//!
//! // An operator's switch, never a default:
//! if std::env::var_os("REHEARSE").is_some() {
//!     chaos.start();
//! }
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! assert_eq!(service.oneshot(41).await?, 42);
//! # Ok::<(), Error>(())
//! # })?;
//! # Ok::<(), Error>(())
//! ```

mod future;
mod layer;
mod schedule;
mod switch;

pub use future::ChaosFuture;
pub use layer::{ChaosLayer, ChaosService};
pub use schedule::{Harm, Schedule};
pub use switch::Chaos;
