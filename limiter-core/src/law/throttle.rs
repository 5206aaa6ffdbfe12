//! The client-side throttle: which share of the requests is refused before it is sent.

use super::math::quotient;

/// The parameters of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Requests per accept that are normal, times 256.
    pub(crate) slack_q8: u16,
    /// No refusal among fewer requests.
    pub(crate) protect: u16,
    /// The largest share that is refused, times 65,536.
    pub(crate) most_q16: u16,
}

impl Rule {
    /// The share to refuse, times 65,536: `max(0, (requests − K · accepts) / (requests + 1))`, of Google's
    /// client-side throttling (Site Reliability Engineering, "Handling Overload").
    #[cfg_attr(target_pointer_width = "64", inline)]
    pub(crate) const fn share_q16(self, requests: u32, accepts: u32) -> u32 {
        // What is always granted, for `K` is above 1.
        if requests < self.protect as u32 || requests <= accepts {
            return 0;
        }
        self.excess_q16(requests, accepts)
    }

    const fn excess_q16(self, requests: u32, accepts: u32) -> u32 {
        // Both below 2²⁰, times 256: in 32 bits.
        let (mut requests, mut accepts) = (requests, accepts);
        while requests | accepts > 0xf_ffff {
            requests >>= 1;
            accepts >>= 1;
        }
        let granted = (accepts as u64 * self.slack_q8 as u64) >> 8;
        if granted >= requests as u64 {
            return 0;
        }
        let (mut excess, mut of) = (requests - granted as u32, requests + 1);
        while of > 0xffff {
            excess >>= 1;
            of >>= 1;
        }
        let share = if excess >= of {
            0xffff
        } else {
            quotient(excess << 16, of)
        };
        if share > self.most_q16 as u32 {
            self.most_q16 as u32
        } else {
            share
        }
    }
}

/// Whether a random word is within the share.
#[inline]
pub(crate) const fn refuses(share_q16: u32, random: u32) -> bool {
    random >> 16 < share_q16
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule {
        slack_q8: 512,
        protect: 5,
        most_q16: 58_982,
    };

    #[test]
    fn the_share_is_the_published_formula() {
        for (requests, accepts) in [
            (5, 0),
            (10, 1),
            (100, 20),
            (100, 50),
            (1_000, 203),
            (65_535, 100),
            (131_068, 60_000),
            (u32::MAX, 7),
            (u32::MAX, u32::MAX),
            (1 << 20, 1 << 18),
        ] {
            let excess = f64::from(requests) - 2.0 * f64::from(accepts);
            let exact = (excess / (f64::from(requests) + 1.0)).clamp(0.0, 0.9);
            let got = f64::from(RULE.share_q16(requests, accepts)) / 65_536.0;
            assert!(
                (got - exact).abs() < 0.001,
                "{got} for {exact} at {requests}, {accepts}"
            );
        }
    }

    #[test]
    fn few_requests_are_protected_and_a_tenth_always_passes() {
        assert_eq!(RULE.share_q16(4, 0), 0);
        assert!(RULE.share_q16(5, 0) > 0);
        assert!(!refuses(RULE.share_q16(u32::MAX, 0), 0xe667_0000));
        assert!(refuses(RULE.share_q16(1_000, 0), 0xe000_0000));
        assert!(
            !refuses(RULE.share_q16(1_000, 500), 0),
            "two requests for one accept are normal"
        );
    }
}
