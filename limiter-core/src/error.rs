//! What is refused, and why: a configuration that cannot work, an acquire without a free slot.

use core::fmt;
use core::time::Duration;

/// A configuration value that cannot work: the field, what it got and what it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ConfigError {
    field: &'static str,
    value: u64,
    least: u64,
    most: u64,
}

impl ConfigError {
    /// Checks `value` against `least..=most`; for builders of laws outside this crate too.
    ///
    /// # Errors
    ///
    /// The error names `field`.
    pub const fn check(field: &'static str, value: u64, least: u64, most: u64) -> Result<(), Self> {
        if value < least || value > most {
            return Err(Self {
                field,
                value,
                least,
                most,
            });
        }
        Ok(())
    }

    /// Checks several fields, each with its value and the least and the most allowed.
    pub(crate) const fn check_all(checks: &[(&'static str, u64, u64, u64)]) -> Result<(), Self> {
        let mut i = 0;
        while i < checks.len() {
            let (field, value, least, most) = checks[i];
            if let Err(error) = Self::check(field, value, least, most) {
                return Err(error);
            }
            i += 1;
        }
        Ok(())
    }

    /// The field that was given a value it does not allow.
    pub const fn field(&self) -> &'static str {
        self.field
    }

    /// The value it was given; durations are in ticks.
    pub const fn value(&self) -> u64 {
        self.value
    }

    /// The smallest value allowed.
    pub const fn least(&self) -> u64 {
        self.least
    }

    /// The largest value allowed.
    pub const fn most(&self) -> u64 {
        self.most
    }

    /// The field that the smallest value allowed is that of, if it is one's.
    pub fn begins_at(&self) -> Option<&'static str> {
        other(&BEGINS, self.field)
    }

    /// The field that the largest value allowed is that of, if it is one's.
    ///
    /// ```
    /// use limiter_core::{Config, Limiter, TickRate, law::Fixed};
    ///
    /// let wrong = Limiter::try_new(Config::new(Fixed, TickRate::MICROS).min(9).max(3)).unwrap_err();
    /// assert_eq!((wrong.most(), wrong.ends_at()), (3, Some("max")));
    /// assert_eq!(wrong.to_string(), "min = 9: allowed are 1 to 3 (max)");
    /// ```
    pub fn ends_at(&self) -> Option<&'static str> {
        other(&ENDS, self.field)
    }

    /// Fails the compilation of a `static` or `const` with the field and the numbers in the message.
    ///
    /// # Panics
    ///
    /// Always, which is its purpose: call it in a constant expression only.
    pub const fn fail<T>(self) -> T {
        let mut text = Text::new();
        text.push(self.field);
        text.push(" = ");
        text.push_number(self.value);
        text.push(": allowed are ");
        text.push_number(self.least);
        text.push(" to ");
        text.push_number(self.most);
        match core::str::from_utf8(text.used()) {
            Ok(text) => panic!("{}", text),
            Err(_) => panic!("{}", self.field),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            field,
            value,
            least,
            most,
        } = self;
        write!(f, "{field} = {value}: allowed are {least}")?;
        if let Some(other) = self.begins_at() {
            write!(f, " ({other})")?;
        }
        write!(f, " to {most}")?;
        match self.ends_at() {
            Some(other) => write!(f, " ({other})"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for ConfigError {}

/// Fields whose range begins at another one.
const BEGINS: [(&str, &str); 2] = [("initial", "min"), ("limit", "min")];

/// Fields whose range ends at another one.
const ENDS: [(&str, &str); 13] = [
    ("min", "max"),
    ("initial", "max"),
    ("limit", "max"),
    ("batch", "interactive"),
    ("best_effort", "batch"),
    ("windows.shortest", "windows.longest"),
    ("vegas.queue.alpha", "vegas.queue.beta"),
    ("timeout_bounds.least", "timeout_bounds.most"),
    ("breaker.open", "breaker.open.most"),
    ("backoff.base", "backoff.cap"),
    ("retry_cost", "budget.capacity"),
    ("timeout_cost", "budget.capacity"),
    ("pushback_cost", "budget.capacity"),
];

fn other(pairs: &[(&str, &'static str)], field: &str) -> Option<&'static str> {
    // Without its unit.
    let name = field.split(" in ").next()?;
    let pair = pairs.iter().find(|(field, _)| *field == name);
    pair.map(|(_, other)| *other)
}

/// A message built during constant evaluation, where `format_args!` with numbers is not available.
struct Text {
    bytes: [u8; 128],
    len: usize,
}

impl Text {
    const fn new() -> Self {
        Self {
            bytes: [0; 128],
            len: 0,
        }
    }

    const fn used(&self) -> &[u8] {
        self.bytes.split_at(self.len).0
    }

    const fn push_byte(&mut self, byte: u8) {
        if self.len < self.bytes.len() {
            self.bytes[self.len] = byte;
            self.len += 1;
        }
    }

    const fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            self.push_byte(bytes[i]);
            i += 1;
        }
    }

    const fn push_number(&mut self, number: u64) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        self.push_byte(b'0' + (number % 10) as u8);
    }
}

/// An acquire was refused: why, and the limit and the number in flight at that instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Rejected {
    /// Why.
    pub reason: RejectReason,
    /// The limit in force, 0 when closed.
    pub limit: u32,
    /// How many slots were taken, also those that are booked for partitions; without them where `idle` tells them
    /// apart.
    pub inflight: u32,
    /// How many more are guaranteed to partitions that do not use them, where an adapter tells.
    pub idle: u32,
}

impl Rejected {
    /// A refusal; for adapters.
    pub const fn new(reason: RejectReason, limit: u32, inflight: u32) -> Self {
        Self {
            reason,
            limit,
            inflight,
            idle: 0,
        }
    }

    /// The same numbers, and another reason; for adapters.
    pub const fn because(mut self, reason: RejectReason) -> Self {
        self.reason = reason;
        self
    }
}

/// Why an acquire was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum RejectReason {
    /// As many are in flight as the limit allows.
    AtLimit,
    /// Fewer slots are free than the request takes: so many.
    TooFewFree(u32),
    /// Others wait already, and a newcomer does not pass them.
    WaitersAhead,
    /// As many wait as the queue holds.
    QueueFull,
    /// The time given for waiting ran out.
    TimedOut,
    /// What waits ahead takes longer than the time that is left.
    WouldExpire(Forecast),
    /// Every ticket of the table is out.
    TicketsOut,
    /// As many are in flight as its class may use of the limit; higher classes are still let in.
    ShareTaken,
    /// It costs more slots than its class may ever use: so many.
    TooHeavy(u32),
    /// A request of weight 0.
    ZeroWeight,
    /// Its caller has had more than its share, and what callers may use then is taken.
    OverShare,
    /// It names a partition that there is not.
    NoSuchPartition,
    /// The slots of its partition are taken, and so is what is for everybody.
    PartitionFull {
        /// The place of the partition.
        partition: u16,
        /// Slots of its own.
        quota: u32,
    },
    /// The limiter was closed.
    Closed,
}

/// How long a wait would have been, and how long it might be: in whole microseconds, at most 71 minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Forecast {
    wait: u32,
    left: u32,
}

impl Forecast {
    /// A wait of `wait`, for one who has `left`; for adapters.
    pub const fn new(wait: Duration, left: Duration) -> Self {
        Self {
            wait: micros(wait),
            left: micros(left),
        }
    }

    /// How long those ahead take, at the pace at which slots came free of late.
    pub const fn wait(self) -> Duration {
        Duration::from_micros(self.wait as u64)
    }

    /// The time there was.
    pub const fn left(self) -> Duration {
        Duration::from_micros(self.left as u64)
    }
}

const fn micros(time: Duration) -> u32 {
    let micros = time.as_micros();
    if micros > u32::MAX as u128 {
        u32::MAX
    } else {
        micros as u32
    }
}

impl RejectReason {
    /// What happened and what to do, in one line.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::AtLimit => "at the limit; refuse the caller, do not retry here",
            Self::TooFewFree(_) => {
                "fewer slots are free than it takes; refuse the caller, do not retry here"
            }
            Self::WaitersAhead => "others wait already; wait in line or refuse the caller",
            Self::QueueFull => "the queue of waiters is full; refuse the caller",
            Self::WouldExpire(_) => {
                "the wait would be longer than the time left; refuse the caller"
            }
            Self::TimedOut => "no slot came free in the time given; refuse the caller",
            Self::ShareTaken => {
                "the share of its priority is taken; refuse the caller, retry later"
            }
            Self::TooHeavy(_) => {
                "heavier than its share of the largest limit; split it, never retry"
            }
            Self::ZeroWeight => "a weight of 0; give it at least 1",
            Self::OverShare => {
                "more than the caller's share; refuse the caller, others are still let in"
            }
            Self::PartitionFull { .. } => {
                "its partition's slots and those for everybody are taken; refuse the caller, retry later"
            }
            Self::NoSuchPartition => "no partition of that number; correct the request",
            Self::TicketsOut => "every ticket is out; finish one or enlarge the table",
            Self::Closed => "the limiter is closed; stop sending work",
        }
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            reason,
            limit,
            inflight,
            idle,
        } = self;
        write!(f, "{} ({inflight} in flight, ", reason.describe())?;
        if *idle != 0 {
            write!(f, "{idle} idle of what is guaranteed to partitions, ")?;
        }
        write!(f, "limit {limit}")?;
        match reason {
            RejectReason::WouldExpire(forecast) => {
                let (wait, left) = (forecast.wait(), forecast.left());
                write!(f, ", {wait:?} ahead, {left:?} left)")
            }
            RejectReason::TooFewFree(weight) | RejectReason::TooHeavy(weight) => {
                write!(f, ", takes {weight})")
            }
            RejectReason::PartitionFull { partition, quota } => {
                write!(f, ", partition {partition} with a quota of {quota})")
            }
            _ => f.write_str(")"),
        }
    }
}

impl core::error::Error for Rejected {}
