//! Looking at limiters and their like, over and over.

use super::alarm::{Bell, PRESSURE, REFUSAL};
use super::edges::{Edges, Look};
use super::source::{Limited, Source};
use super::{Edge, Event, Observer, Seen};
use crate::clock::Clock;
use crate::{Breaker, Budget, Dependency, Limiter};
use core::fmt;
use core::time::Duration;
use limiter_core::law::Law;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::{Instant, SystemTime};

/// How often a monitor looks. Ten looks a second tell a mean over a second from an accident, and cost
/// microseconds.
pub const LOOK_EVERY: Duration = Duration::from_millis(100);

/// However often limiters call, no two looks are closer than this.
const NOT_SOONER: Duration = Duration::from_micros(500);

/// Looks at the limiters, dependencies, budgets and breakers that it was given, tells [`Observer`]s what it sees,
/// and what began or is over, as [`Event`]s. Clones are the same monitor.
///
/// It reads what is counted anyway; requests do nothing for it. Only when the limit is nearly reached, somebody
/// waits, or somebody is refused, and that was not yet reported, does a request wake the monitor's thread, so that
/// the edge is there before most callers have an answer.
///
/// Limiters and dependencies are held weakly: one that nobody else has any more disappears.
///
/// ```
/// use limiter_std::telemetry::{Edge, Event, Monitor};
/// use limiter_std::{Config, Limiter, law::Fixed};
/// use std::sync::mpsc;
///
/// let limiter = Limiter::try_new(Config::new(Fixed).initial(1))?;
/// let (heard, events) = mpsc::channel();
/// let monitor = Monitor::new();
/// monitor.limiter("api", &limiter).observe(move |event: &Event<'_>| {
///     let _ = heard.send(event.edge);
/// });
///
/// let permit = limiter.try_acquire();
/// // By hand, at any time: `start` makes a thread that does it.
/// monitor.look();
/// assert!(matches!(events.try_recv(), Ok(Edge::QueueBuilding { limit: 1, .. })));
/// assert!(limiter.try_acquire().is_err());
/// monitor.look();
/// assert!(matches!(events.try_recv(), Ok(Edge::Shedding { reason: "at_limit", .. })));
/// # drop(permit);
/// # Ok::<(), limiter_std::ConfigError>(())
/// ```
#[derive(Clone, Default)]
pub struct Monitor {
    common: Arc<Common>,
}

#[derive(Default)]
struct Common {
    watched: Mutex<Watched>,
    /// Held while observers are told; those who come meanwhile wait in `new`.
    observers: Mutex<Vec<Box<dyn Observer>>>,
    new: Mutex<Vec<Box<dyn Observer>>>,
    bell: Arc<Bell>,
}

#[derive(Default)]
struct Watched {
    entries: Vec<Entry>,
    /// Names of those that are not looked at any more, of which observers were not told.
    gone: Vec<Arc<str>>,
}

impl Watched {
    fn seen(&self) -> Vec<(Arc<str>, Seen)> {
        let seen = |watched: &Entry| Some((Arc::clone(&watched.name), watched.seen.clone()?));
        self.entries.iter().filter_map(seen).collect()
    }

    fn keep(&mut self, mut stays: impl FnMut(&mut Entry) -> bool) {
        self.entries.retain_mut(|entry| {
            let stays = stays(entry);
            // Nobody was told of one that was never seen.
            if !stays && entry.seen.is_some() {
                self.gone.push(Arc::clone(&entry.name));
            }
            stays
        });
    }
}

/// A source under its name.
struct Entry {
    name: Arc<str>,
    source: Box<dyn Source>,
    edges: Edges,
    seen: Option<Seen>,
}

impl Entry {
    /// Looks, and adds what began or is over; `false` when the source is gone.
    fn look(&mut self, events: &mut Vec<(Arc<str>, Edge, bool)>) -> bool {
        let Some((look, mut seen)) = self.source.look() else {
            return false;
        };
        let (name, watches_only) = (&self.name, look.watches_only);
        self.edges.see(look, &mut |edge| {
            events.push((Arc::clone(name), edge, watches_only));
        });
        seen.overload = self.edges.holds();
        if let Some(limiter) = &mut seen.limiter {
            limiter.utilisation = self.edges.utilisation();
        }
        self.source.arm(arms(&seen));
        self.seen = Some(seen);
        true
    }
}

/// What is not reported yet calls when it begins.
const fn arms(seen: &Seen) -> u8 {
    let pressure = if seen.overload.queue_building {
        0
    } else {
        PRESSURE
    };
    if seen.overload.shedding || seen.overload.would_shed {
        pressure
    } else {
        pressure | REFUSAL
    }
}

impl Monitor {
    /// A monitor of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Looks at a limiter from now on, under this name, in place of whatever had it. Have one monitor look at a
    /// limiter: of two, one misses what was over by its look, and is called by nobody.
    pub fn limiter<L, C>(&self, name: impl Into<Arc<str>>, limiter: &Limiter<L, C>) -> &Self
    where
        L: Law + Send + Sync + 'static,
        C: Clock,
    {
        self.watch(
            name.into(),
            Box::new(Limited::new(Arc::downgrade(limiter.shared()))),
        )
    }

    /// Looks at a dependency from now on.
    pub fn dependency<L, C>(
        &self,
        name: impl Into<Arc<str>>,
        dependency: &Dependency<L, C>,
    ) -> &Self
    where
        L: Law + Send + Sync + 'static,
        C: Clock,
    {
        self.watch(
            name.into(),
            Box::new(Limited::new(Arc::downgrade(dependency.shared()))),
        )
    }

    /// Looks at a breaker that is used alone, from now on. It is kept.
    pub fn breaker<C: Clock>(&self, name: impl Into<Arc<str>>, breaker: &Breaker<C>) -> &Self {
        self.watch(name.into(), Box::new(breaker.clone()))
    }

    /// Looks at a budget that is used alone, from now on. It is kept.
    pub fn budget(&self, name: impl Into<Arc<str>>, budget: &Budget) -> &Self {
        self.watch(name.into(), Box::new(budget.clone()))
    }

    fn watch(&self, name: Arc<str>, mut source: Box<dyn Source>) -> &Self {
        // What is refused from now on is told, however long the first look takes to come.
        let first = source.look().map_or_else(Look::default, |(look, _)| look);
        source.connect(&self.common.bell);
        source.arm(PRESSURE | REFUSAL);
        let watched = Entry {
            name,
            source,
            edges: Edges::since(first),
            seen: None,
        };
        let mut all = self.watched();
        let place = all
            .entries
            .iter()
            .position(|other| other.name == watched.name);
        all.keep(|other| other.name != watched.name);
        let place = place.unwrap_or(all.entries.len());
        all.entries.insert(place, watched);
        drop(all);
        self
    }

    /// Looks no more at what has this name.
    pub fn forget(&self, name: &str) {
        self.watched().keep(|watched| {
            let stays = &*watched.name != name;
            if !stays {
                watched.source.arm(0);
            }
            stays
        });
    }

    /// Tells this observer too, from the next look on.
    pub fn observe(&self, observer: impl Observer + 'static) -> &Self {
        lock(&self.common.new).push(Box::new(observer));
        self
    }

    /// Looks at all sources now, tells the observers, and returns after which time to look again. It does nothing
    /// while somebody else looks, also from within an observer.
    pub fn look(&self) -> Duration {
        let mut observers = match self.common.observers.try_lock() {
            Ok(observers) => observers,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return LOOK_EVERY,
        };
        observers.append(&mut lock(&self.common.new));
        let mut events = Vec::new();
        // Under the lock of what is watched no code of the user's runs but the clocks.
        let mut all = self.watched();
        all.keep(|watched| watched.look(&mut events));
        let (gone, seen) = (core::mem::take(&mut all.gone), all.seen());
        drop(all);
        let at = SystemTime::now();
        observers.retain_mut(|observer| {
            let told = catch_unwind(AssertUnwindSafe(|| {
                for source in &gone {
                    observer.gone(source);
                }
                for (source, edge, watches_only) in &events {
                    observer.edge(&Event {
                        source,
                        at,
                        edge: *edge,
                        watches_only: *watches_only,
                    });
                }
                for (source, seen) in &seen {
                    observer.seen(source, seen);
                }
            }));
            told.is_ok()
        });
        LOOK_EVERY
    }

    /// What was seen at the last look, in the order in which sources were given.
    pub fn seen(&self) -> Vec<(String, Seen)> {
        let each = self.watched().seen().into_iter();
        each.map(|(name, seen)| (name.as_ref().to_owned(), seen))
            .collect()
    }

    /// Looks in a thread of its own, ten times a second and when a limiter calls, until the handle is dropped.
    ///
    /// In a runtime without threads to spare, sleep for what [`look`](Monitor::look) returns and look again: all
    /// that is missing then is that limiters call.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use limiter_std::{Limiter, telemetry::{Event, Monitor}};
    ///
    /// let limiter = Limiter::default();
    /// let monitor = Monitor::new();
    /// monitor.limiter("api", &limiter).observe(|event: &Event<'_>| eprintln!("{event}"));
    /// let _running = monitor.start()?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// When the operating system makes no thread.
    pub fn start(&self) -> io::Result<Running> {
        let stop = Arc::new(AtomicBool::new(false));
        let (monitor, stopped) = (self.clone(), Arc::clone(&stop));
        let thread = thread::Builder::new()
            .name("limiter-monitor".to_owned())
            .spawn(move || monitor.run(&stopped))?;
        Ok(Running {
            stop,
            thread: Some(thread),
        })
    }

    fn run(&self, stop: &AtomicBool) {
        let bell = &self.common.bell;
        bell.answer();
        while !stop.load(Ordering::Acquire) {
            bell.take();
            let began = Instant::now();
            self.look();
            while !stop.load(Ordering::Acquire) {
                let rung = bell.is_rung();
                let due = if rung { NOT_SOONER } else { LOOK_EVERY };
                let Some(left) = due.checked_sub(began.elapsed()) else {
                    break;
                };
                // A ring that comes in here ends either, and is noticed above.
                if left.is_zero() {
                    break;
                }
                thread::park_timeout(left);
            }
        }
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        lock(&self.common.watched)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A clock of the user's may have panicked: what is watched is in order between two steps.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor")
            .field("seen", &self.seen())
            .finish_non_exhaustive()
    }
}

/// A monitor's thread, from [`Monitor::start`]; dropping it ends the thread.
#[derive(Debug)]
#[must_use = "dropping it ends the monitor's thread"]
pub struct Running {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Lets the thread run as long as the process.
    pub fn detach(mut self) {
        self.thread = None;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        self.stop.store(true, Ordering::Release);
        thread.thread().unpark();
        // Dropped by an observer it would wait for itself.
        if thread.thread().id() != thread::current().id() {
            let _ = thread.join();
        }
    }
}
