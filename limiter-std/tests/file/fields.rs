//! Every field of a file.

/// Each field with a value that works and one that does not, and what is said of it after the path.
const FIELDS: &str = r#"
limiter | law | "aimd" | "magic" | unknown variant `magic`
limiter | initial | 20 | 0 | got 0, allowed 1 to 1000: limiter.min is 1 unless it is set; where it is left out a limit starts within the bounds
limiter | min | 5 | 0 | got 0, allowed 1 to 1000
limiter | min | 11 | 1001 | got 1001, allowed 1 to 1000: limiter.max is 1000 unless it is set
limiter | max | 5 | 0 | got 0, allowed 1 to 2147483647
limiter | min_samples | 20 | 0 | got 0, allowed 1 to 16777216
limiter | overload_tolerance | 30 | 1001 | got 1001, allowed 0 to 1000
limiter | urgent_overloads | 9 | 0 | got 0, allowed 1 to 16777216
limiter | beyond_may_use | 500 | 0 | got 0, allowed 1 to 1000
limiter | watch_only | true | 1 | invalid type: integer `1`, expected a boolean
limiter.windows | shortest | "20ms" | "2s" | got 2s, allowed 1ns to 1s: limiter.windows.longest is 1s unless it is set
limiter.windows | shortest | "20ms" | "0s" | got 0s, allowed 1ns to 1s
limiter.windows | longest | "2s" | "0s" | got 0s, allowed 1ns to 
limiter.windows | longest | "2s" | "2 secs 5" | "2 secs 5" is no time
limiter.shares | interactive | 800 | 1001 | got 1001, allowed 1 to 1000
limiter.shares | batch | 800 | 901 | got 901, allowed 1 to 900: limiter.shares.interactive is 900 unless it is set
limiter.shares | batch | 600 | 100 | got 100, but limiter.shares.best_effort is 500 unless it is set
limiter.shares | best_effort | 100 | 0 | got 0, allowed 1 to 700
limiter.queue | length | 5 | 0 | got 0, allowed 1 to 1048576
limiter.queue | length | "none" | "many" | invalid type: string "many", expected a number, or "none"
limiter.queue | longest_wait | "3s" | "0s" | got 0s, allowed 1ns or more
limiter.queue | longest_wait | "none" | "soon" | "soon" is no time
limiter.queue | target | "1ms" | "0s" | got 0s, allowed 1ns or more
limiter.queue | interval | "1s" | "0 ms" | got 0 ms, allowed 1ns or more
limiter.knee | target | 200 | 1000 | got 1000, allowed 10 to 900
limiter.knee | spread | 200 | 10 | got 10, allowed 20 to 300
limiter.partitions.reads | guarantee | 200 | 901 | got 901, allowed 0 to 900
limiter.partitions.reads | lend_after | "none" | "x" | "x" is no time; write one such as "250ms" or "1m 30s", or "none"
limiter.partitions.reads | lend_after | "none" | 1 | invalid type: integer `1`, expected a time
dependency | attempts | 5 | 0 | got 0, allowed 1 to 1000
dependency | total | "3s" | "0s" | got 0s, allowed 1ms to 366days
dependency | timeout | "3s" | "0s" | got 0s, allowed 1ms to 366days
dependency | timeout | "3s" | "11s" | got 11s, which never passes: dependency.total is 10s unless it is set
dependency | waiting | 5 | 65536 | got 65536, allowed 1 to 65535
dependency | retry_cost_milli | 500 | 0 | got 0, allowed 1 to 10000
dependency | retry_cost_milli | 500 | 20000 | got 20000, allowed 1 to 10000: dependency.budget.capacity_milli is 10000 unless it is set
dependency | timeout_cost_milli | 2000 | 0 | got 0, allowed 1 to 10000
dependency | pushback_cost_milli | 500 | 0 | got 0, allowed 1 to 10000
dependency.timeout_bounds | least | "10ms" | "0s" | got 0s, allowed 1ms to 5s
dependency.timeout_bounds | most | "10s" | "20ms" | got 20ms, but dependency.timeout_bounds.least is 1s unless it is set
dependency.timeout_quantile | per_mille | 900 | 1001 | got 1001, allowed 1 to 1000
dependency.timeout_quantile | margin | 1500 | 999 | got 999, allowed 1000 to 100000
dependency.timeout_quantile | samples | 20 | 0 | got 0, allowed 1 to 1000
dependency.hedge | per_mille | 990 | 499 | got 499, allowed 500 to 1000
dependency.hedge | delay | "50ms" | "0s" | got 0s, allowed 1ms to 366days
dependency.backoff | jitter | "full" | "none" | unknown variant `none`
dependency.backoff | base | "100ms" | "5s" | got 5s, allowed 1ns to 4s: dependency.backoff.cap is 4s unless it is set
dependency.backoff | cap | "3s" | "5h" | got 5h, allowed 1ns to 4h
dependency.backoff | most_hinted | "1s" | "-1s" | "-1s" is no time
dependency.breaker | consecutive | 5 | 0 | got 0, allowed 1 to 4095
dependency.breaker | consecutive | "none" | 5000 | got 5000, allowed 1 to 4095
dependency.breaker | failure_share | "none" | 1001 | got 1001, allowed 1 to 1000
dependency.breaker | slow_share | {"per_mille":500,"longest":"1s"} | {"per_mille":500} | missing field `longest`
dependency.breaker | volume | 50 | 0 | got 0, allowed 1 to 1000
dependency.breaker | window | "30s" | "1ms" | got 1ms, allowed 10ms to 1h
dependency.breaker | probes | 5 | 64 | got 64, allowed 1 to 63
dependency.breaker | probe_time | "30s" | "2days" | got 2days, allowed 1ms to 1day
dependency.breaker.open | first | "1s" | "2m" | got 2m, allowed 1ms to 20s: dependency.breaker.open.most is 20s unless it is set
dependency.breaker.open | most | "2m" | "1s" | got 1s, but dependency.breaker.open.first is 5s unless it is set
dependency.throttle | on | false | 0 | invalid type: integer `0`, expected a boolean
dependency.throttle | window | "30s" | "2h" | got 2h, allowed 10ms to 1h
dependency.throttle | slack_q8 | 300 | 256 | got 256, allowed 257 to 65535
dependency.throttle | protect | 50 | 0 | got 0, allowed 1 to 30000
dependency.throttle | most | 800 | 991 | got 991, allowed 1 to 990
dependency.budget | ratio | 200 | 2000 | got 2000, allowed 0 to 1000
dependency.budget | capacity_milli | 20000 | 999 | got 999, allowed 1000 to 1000000
dependency.budget | floor_milli | 500 | 0 | got 0, allowed 1 to 1000000
dependency.budget | floor_period | "1s" | "0s" | got 0s, allowed 1ms to 
dependency.budget | floor_period | "none" | "1 fortnight" | "1 fortnight" is no time
"#;

/// Section, field, what works, what does not, what is said.
pub(crate) type Field = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

pub(crate) fn fields() -> impl Iterator<Item = Field> {
    FIELDS.trim().lines().map(|line| {
        let mut parts = line.split(" | ");
        let mut next = || parts.next().expect("five parts");
        (next(), next(), next(), next(), next())
    })
}
