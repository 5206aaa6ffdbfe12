//! The retry budget: how much a caller may add to somebody else's bad day.

use crate::cell::budget::Bucket;
use crate::cell::sync::const_unless_loom;
use crate::error::ConfigError;
use crate::law::budget::{Floor, Posting, TOKEN, Terms};
use crate::time::{Stamp, TickRate, Ticks, Timestamp};
use core::fmt;
use core::time::Duration;

/// An amount in a [`RetryBudget`]: tokens in thousandths. An ordinary retry costs one token.
///
/// ```
/// use limiter_core::Tokens;
///
/// assert_eq!(Tokens::whole(2), Tokens::milli(2_000));
/// assert_eq!(Tokens::whole(u32::MAX), Tokens::milli(u32::MAX)); // saturates
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Tokens(u32);

impl Tokens {
    /// One token.
    pub const ONE: Self = Self(TOKEN);

    /// So many tokens; saturates.
    pub const fn whole(tokens: u32) -> Self {
        Self(tokens.saturating_mul(TOKEN))
    }

    /// So many thousandths of a token.
    pub const fn milli(milli: u32) -> Self {
        Self(milli)
    }

    /// Thousandths of a token.
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// What a [`RetryBudget`] is built from.
///
/// Defaults: 10 tokens, a tenth of a token for each first attempt (10 % of retries), and a floor of 1 token
/// in 10 s. The floor is small because fleets are large: 10,000 callers with 10 tokens a second each are a
/// storm of 100,000 retries a second.
///
/// ```
/// use core::time::Duration;
/// use limiter_core::{BudgetConfig, Tokens};
///
/// const CONFIG: BudgetConfig = BudgetConfig::new()
///     .capacity(Tokens::whole(20))
///     .ratio(200)
///     .floor(Tokens::ONE, Duration::from_secs(1));
/// assert!(CONFIG.check().is_ok());
/// assert!(BudgetConfig::new().capacity(Tokens::whole(1_001)).check().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetConfig {
    capacity: Tokens,
    ratio: u32,
    floor: Option<(Tokens, Duration)>,
}

/// Largest capacity in tokens, as in gRPC's retry throttling (proposal A6).
const MOST_TOKENS: u32 = 1_000;

impl BudgetConfig {
    /// The defaults.
    pub const fn new() -> Self {
        Self {
            capacity: Tokens::whole(10),
            ratio: 100,
            floor: Some((Tokens::ONE, Duration::from_secs(10))),
        }
    }

    /// The most that is ever saved up, from 1 to 1,000 tokens.
    #[must_use]
    pub const fn capacity(mut self, tokens: Tokens) -> Self {
        self.capacity = tokens;
        self
    }

    /// What a first attempt adds, in thousandths of a token: retries per first attempts, per mille, from 0
    /// to 1,000. Exact for every value.
    #[must_use]
    pub const fn ratio(mut self, per_mille: u32) -> Self {
        self.ratio = per_mille;
        self
    }

    /// What time adds: so much in each `period`, from 1 thousandth to 1,000 tokens in 1 ms or longer.
    #[must_use]
    pub const fn floor(mut self, tokens: Tokens, period: Duration) -> Self {
        self.floor = Some((tokens, period));
        self
    }

    /// Time adds nothing: only first attempts pay for retries.
    #[must_use]
    pub const fn without_floor(mut self) -> Self {
        self.floor = None;
        self
    }

    /// Checks every value.
    ///
    /// # Errors
    ///
    /// The first field that does not work.
    pub const fn check(&self) -> Result<(), ConfigError> {
        let most = (MOST_TOKENS * TOKEN) as u64;
        let (floor, period) = match self.floor {
            Some((floor, period)) => (floor, period),
            None => (Tokens::ONE, Duration::from_secs(1)),
        };
        let millis = period
            .as_secs()
            .saturating_mul(1_000)
            .saturating_add(period.subsec_millis() as u64);
        let checks = [
            (
                "budget.capacity in thousandths",
                self.capacity.0 as u64,
                TOKEN as u64,
                most,
            ),
            ("budget.ratio", self.ratio as u64, 0, 1_000),
            ("budget.floor in thousandths", floor.0 as u64, 1, most),
            // A quarter of the range of stamps, in the coarsest unit that any rate has.
            ("budget.floor.period in ms", millis, 1, 500_000_000),
        ];
        ConfigError::check_all(&checks)
    }

    pub(crate) const fn terms(&self, rate: TickRate) -> Terms {
        let floor = match self.floor {
            Some((tokens, period)) => Floor::new(tokens.0, rate.ticks(period).get(), rate.pace()),
            None => Floor::none(rate.pace()),
        };
        Terms {
            capacity: self.capacity.0,
            ratio: self.ratio,
            floor,
        }
    }
}

impl Default for BudgetConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// A budget for retries, hedges and fallbacks.
///
/// First attempts deposit, whatever comes after them withdraws, and a withdrawal that is not covered is
/// refused. Over any interval
///
/// `what was withdrawn ≤ capacity + ratio · first attempts + floor · time`
///
/// to a thousandth of a token, however many threads there are and wherever one stops: a deposit is one addition,
/// a withdrawal one compare-exchange, a refusal stores nothing. The shape is that of gRPC's retry throttling (thousandths
/// in one word) with Finagle's ratio and floor.
///
/// It starts full, and time counts from its first withdrawal.
/// A clock that stands still or steps back adds nothing; one that was set back by more than a minute goes
/// on from there. Two million tokens of the floor between two withdrawals (8 months at the default) look like
/// that: then it has added less than is due; and a clock set back by as much looks like one that went on, and may
/// fill it once.
///
/// ```
/// use limiter_core::{BudgetConfig, RetryBudget, TickRate, Timestamp, Tokens};
///
/// static BUDGET: RetryBudget = RetryBudget::new(
///     BudgetConfig::new().capacity(Tokens::whole(1)),
///     TickRate::MILLIS,
/// );
///
/// let now = Timestamp::from_ticks(0);
/// assert!(BUDGET.withdraw(Tokens::ONE, now).is_ok());
/// assert!(BUDGET.withdraw(Tokens::ONE, now).is_err());
/// for _ in 0..10 {
///     BUDGET.deposit(); // ten first attempts pay for one retry
/// }
/// assert!(BUDGET.withdraw(Tokens::ONE, now).is_ok());
/// // And so do ten seconds.
/// assert!(BUDGET.withdraw(Tokens::ONE, Timestamp::from_ticks(10_001)).is_ok());
/// ```
#[derive(Debug)]
pub struct RetryBudget {
    bucket: Bucket,
    rate: TickRate,
}

impl RetryBudget {
    const_unless_loom! {
        /// A full budget from a configuration that is known to be right: for `static`s and constants, where
        /// a wrong one fails to compile.
        ///
        /// # Panics
        ///
        /// If the configuration is wrong. At run time use [`try_new`](RetryBudget::try_new).
        pub fn new(config: BudgetConfig, rate: TickRate) -> Self {
            if let Err(error) = config.check() {
                error.fail::<()>();
            }
            Self::of(config.terms(rate), rate)
        }
    }

    /// A full budget from a configuration that may be wrong.
    ///
    /// # Errors
    ///
    /// The first field that does not work.
    pub fn try_new(config: BudgetConfig, rate: TickRate) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self::of(config.terms(rate), rate))
    }

    const_unless_loom! {
        pub(crate) fn of(terms: Terms, rate: TickRate) -> Self {
            Self {
                bucket: Bucket::new(terms),
                rate,
            }
        }
    }

    /// Adds the ratio for a first attempt. Retries never deposit. Needs no time: what that adds is counted by
    /// withdrawals. Returns the balance without what time has added since the last of them.
    #[cfg_attr(target_pointer_width = "64", inline)]
    pub fn deposit(&self) -> Tokens {
        Tokens(self.bucket.deposit())
    }

    /// Takes `cost` for a retry, and returns the balance that is left.
    ///
    /// # Errors
    ///
    /// [`Exhausted`] when the balance does not cover it; nothing changes.
    #[cfg_attr(target_pointer_width = "64", inline)]
    pub fn withdraw(&self, cost: Tokens, now: Timestamp) -> Result<Tokens, Exhausted> {
        self.apply(Posting::Withdraw(cost.0), now)
    }

    /// Takes `cost` for a hedge, which needs the budget more than half full: of what a caller adds, hedges
    /// go first. (gRPC's threshold, proposal A6.)
    ///
    /// # Errors
    ///
    /// [`Exhausted`] when the budget is at most half full or does not cover it; nothing changes.
    pub fn withdraw_hedge(&self, cost: Tokens, now: Timestamp) -> Result<Tokens, Exhausted> {
        self.apply(Posting::WithdrawHedge(cost.0), now)
    }

    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) fn apply(&self, posting: Posting, now: Timestamp) -> Result<Tokens, Exhausted> {
        match self.bucket.withdraw(posting, now) {
            Ok(left) => Ok(Tokens(left)),
            Err(have) => Err(Exhausted {
                balance: Tokens(have),
            }),
        }
    }

    /// The balance. Reading it has no side effect.
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub fn balance(&self, now: Timestamp) -> Tokens {
        Tokens(self.bucket.balance(now))
    }

    /// The most that is ever saved up.
    pub fn capacity(&self) -> Tokens {
        Tokens(self.bucket.capacity())
    }

    /// How long the floor alone takes until `cost` is covered: at least one tick while it is not. `None`
    /// when it takes longer than a quarter of the range of stamps, or never comes.
    pub fn time_until(&self, cost: Tokens, now: Timestamp) -> Option<Ticks> {
        let missing = cost.0.saturating_sub(self.bucket.balance(now));
        if cost.0 > self.bucket.capacity() {
            return None;
        }
        let floor = self.bucket.floor();
        let from = floor.units(now) as u32;
        let units = floor.time_for(from, missing, Stamp::MAX_UNITS)?;
        Some(floor.ticks(units))
    }

    /// Changes capacity, ratio and floor while in use. The balance stays equally full.
    ///
    /// # Errors
    ///
    /// The first field that does not work; nothing changes.
    pub fn reconfigure(&self, config: BudgetConfig, now: Timestamp) -> Result<(), ConfigError> {
        config.check()?;
        self.bucket.set_terms(config.terms(self.rate), now);
        Ok(())
    }

    /// Sets the balance that it had `asleep` units ago.
    pub(crate) fn restore(&self, balance: Tokens, asleep: u32, now: Timestamp) {
        self.bucket.restore(balance.0, now, asleep);
    }
}

/// A withdrawal that the balance did not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Exhausted {
    /// What there was.
    pub balance: Tokens,
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the retry budget is exhausted ({} thousandths of a token); give up, do not retry here",
            self.balance.0
        )
    }
}

impl core::error::Error for Exhausted {}
