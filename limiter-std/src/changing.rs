//! A limiter's handle, as far as it is changed while running.

use crate::clock::Clock;
use crate::shared::Lane;
use crate::{Config, ConfigError, Limiter, Shares, wait};
use limiter_core::law::Law;

impl<L: Law, C: Clock> Limiter<L, C> {
    /// Sets the limit; an adaptive law goes on from there. Shrinking below what is in flight admits
    /// nothing until enough have left.
    ///
    /// # Errors
    ///
    /// When `limit` is outside the bounds: move those first.
    pub fn set_limit(&self, limit: u32) -> Result<(), ConfigError> {
        self.shared().set_limit(limit)
    }

    /// Moves the bounds, and the limit into them; what was learned is kept.
    ///
    /// # Errors
    ///
    /// When `min` is 0 or above `max`, or `max` above [`MAX_LIMIT`](crate::MAX_LIMIT); nothing changes.
    pub fn set_bounds(&self, min: u32, max: u32) -> Result<(), ConfigError> {
        self.shared().set_bounds(min, max)
    }

    /// Changes what each class may use of the limit. Who is in flight stays, and who waits and fits now is
    /// let in.
    ///
    /// # Errors
    ///
    /// The first share that does not fit; nothing changes.
    pub fn set_shares(&self, shares: Shares) -> Result<(), ConfigError> {
        self.shared().set_shares(shares)
    }

    /// Changes the law, or its parameters, from the next decision on: that of the window which is open.
    ///
    /// What was learned stays: the limit, and what a law measured (baselines, the RTT at the knee, shares of
    /// stray errors, that the ramp of the start is over), for that is none of the parameters. A law of
    /// [another kind](Law::goes_on_from) begins anew from the limit in force; one that doubles at the start
    /// does so from there, unless it was told not to. Costs requests nothing.
    ///
    /// ```
    /// use limiter_std::law::{Aimd, AnyLaw, Fixed};
    /// use limiter_std::{Config, Limiter};
    ///
    /// let limiter = Limiter::try_new(Config::new(AnyLaw::Aimd(Aimd::new())))?;
    /// limiter.set_law(AnyLaw::Aimd(Aimd::new().keep(500)?))?;
    /// // In a bad hour: it stays where it is.
    /// limiter.set_law(AnyLaw::Fixed(Fixed))?;
    /// # Ok::<(), limiter_std::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A parameter that does not work; nothing changes.
    pub fn set_law(&self, law: L) -> Result<(), ConfigError> {
        self.shared().core().law().set(law)
    }

    /// Goes by another configuration from now on, and keeps what was learned: bounds, shares, queue and the
    /// [law](Limiter::set_law) change. The limit stays, moved into the bounds. The windows, with their samples and
    /// overloads, are those of the start whatever is given here, and the initial limit says nothing any more. Who waits
    /// stays, also in a queue that is longer than allowed now. One that was closed stays closed.
    ///
    /// ```
    /// use limiter_std::{Config, Limiter, law::Knee};
    ///
    /// let config = Config::new(Knee::new());
    /// let limiter = Limiter::try_new(config)?;
    /// limiter.reconfigure(&config.min(20).queue_length(500))?;
    /// assert_eq!(limiter.snapshot().limit, 20);
    /// assert!(limiter.reconfigure(&config.min(0)).is_err());
    /// assert_eq!(limiter.snapshot().min, 20);
    /// # Ok::<(), limiter_std::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The first field that does not work; nothing changes.
    pub fn reconfigure(&self, config: &Config<L>) -> Result<(), ConfigError>
    where
        L: Copy,
    {
        reconfigure(&**self.shared(), config)
    }
}

/// Goes by what can be changed while running, or by nothing of it when something does not work.
pub(crate) fn reconfigure<A: Lane>(lane: &A, config: &Config<A::Law>) -> Result<(), ConfigError>
where
    A::Law: Copy,
{
    config.started().check()?;
    lane.core().law().set(*config.core.law())?;
    let (min, max) = config.core.bounds();
    lane.waiters().set(config.waiting());
    if let Some(crowd) = lane.crowd() {
        crowd.set(config.beyond_share());
    }
    if let Some(watch) = lane.watch() {
        watch.set(config.is_watching());
    }
    // Served once both are set: under new shares of the old bounds one that fits before and after could
    // look too heavy for ever.
    lane.core().set_shares(config.core.class_shares())?;
    lane.set_bounds(min, max)?;
    lane.way().balance();
    wait::serve(lane);
    Ok(())
}
