//! The simulator itself: queueing theory knows what it must show.

use benches::lab::arrivals::Arrivals;
use benches::lab::gate::Planned;
use benches::lab::judge::Court;
use benches::lab::laws;
use benches::lab::measure::figures;
use benches::lab::model::{Model, Phase};
use benches::lab::oracle::Oracle;
use benches::lab::queue::{NEVER, SECOND};
use benches::lab::random::Shape;
use benches::lab::trace::{End, Trace};
use benches::lab::world::{Span, run};

/// A model of one phase; callers wait for ever.
fn model(slots: u32, service_ms: f64, rate: f64, seconds: f64, shape: Shape) -> Model {
    Model {
        name: String::from("test"),
        phases: vec![Phase {
            seconds,
            rate,
            slots,
            service_ms,
            shape,
            ..Phase::default()
        }],
        deadline_ms: 1e9,
        ..Model::default()
    }
}

fn under(model: &Model, limit: u32, seed: u64, gauges_every: u64) -> Trace {
    let arrivals = Arrivals::new(seed, &model.stretches(), model.batch);
    let gates = std::iter::once(Planned::new(vec![(NEVER, limit)]));
    let span = Span {
        gauges_every,
        ..Span::all(model)
    };
    let mut trace = Trace::default();
    run(model, &arrivals, gates, span, &mut trace);
    trace
}

/// The mean wait in the queue of a single server without a limit, in ms, over four seeds.
fn mean_wait(utilisation: f64, shape: Shape) -> f64 {
    let service = 10.0;
    let model = model(1, service, utilisation * 1e3 / service, 2_000.0, shape);
    let seeds = [1, 2, 3, 4];
    let times = seeds.map(|seed| {
        let trace = under(&model, u32::MAX, seed, NEVER);
        figures(&trace, 100 * SECOND, model.end()).mean as f64 / 1e6
    });
    times.iter().sum::<f64>() / seeds.len() as f64 - service
}

#[test]
fn a_single_exponential_server_makes_customers_wait_as_long_as_the_formula_says() {
    // M/M/1: rho / (1 - rho) service times.
    for (utilisation, expected) in [(0.5, 10.0), (0.7, 23.33)] {
        let wait = mean_wait(utilisation, Shape::Exponential);
        let error = wait / expected - 1.0;
        assert!(
            error.abs() < 0.06,
            "{utilisation}: {wait} ms for {expected}"
        );
    }
}

#[test]
fn a_single_constant_server_makes_customers_wait_half_as_long() {
    // M/D/1: half of M/M/1 (Pollaczek and Khinchine).
    for (utilisation, expected) in [(0.5, 5.0), (0.7, 11.67)] {
        let wait = mean_wait(utilisation, Shape::Exact);
        let error = wait / expected - 1.0;
        assert!(
            error.abs() < 0.04,
            "{utilisation}: {wait} ms for {expected}"
        );
    }
}

#[test]
fn a_server_that_only_refuses_loses_the_share_that_erlang_says() {
    // M/G/c/c with 5 slots and 4 Erlang: the loss is 0.1991, whatever the shape (Erlang B).
    for shape in [Shape::Exponential, Shape::LogNormal { sigma: 1.0 }] {
        let model = model(5, 10.0, 400.0, 1_000.0, shape);
        let trace = under(&model, 5, 1, NEVER);
        let asked = trace.asked[0];
        let loss = asked.refused as f64 / asked.arrived as f64;
        assert!((loss - 0.1991).abs() < 0.005, "{shape:?}: {loss}");
    }
}

#[test]
fn littles_law_holds_between_the_gauges_and_the_answers() {
    let model = model(4, 20.0, 190.0, 1_000.0, Shape::LogNormal { sigma: 0.5 });
    let trace = under(&model, 100, 3, SECOND / 50);
    let seen: u64 = trace
        .gauges
        .iter()
        .map(|gauges| u64::from(gauges.inflight))
        .sum();
    let seen = seen as f64 / trace.gauges.len() as f64;
    let all = figures(&trace, 0, model.end());
    let expected = all.goodput * all.mean as f64 / 1e9;
    assert!(
        (seen / expected - 1.0).abs() < 0.03,
        "{seen} for {expected}"
    );
    assert!(
        trace
            .gauges
            .iter()
            .all(|gauges| gauges.load == gauges.inflight)
    );
}

#[test]
fn nothing_is_lost_every_request_that_was_let_in_ends_or_is_in_flight() {
    let mut model = model(4, 20.0, 600.0, 60.0, Shape::LogNormal { sigma: 1.0 });
    model.deadline_ms = 150.0;
    model.phases[0].stray = 0.05;
    model.phases[0].refuse_at = Some(30);
    let trace = under(&model, 40, 1, 60 * SECOND - 1);
    let asked = trace.asked[0];
    let let_in = asked.arrived - asked.refused;
    let in_flight = trace.gauges.last().map_or(0, |gauges| gauges.inflight);
    assert_eq!(let_in, trace.ended.len() as u64 + u64::from(in_flight));
    for end in [End::Good, End::GaveUp, End::Refused] {
        assert!(trace.ended.iter().any(|ended| ended.end == end), "{end:?}");
    }
    let longest = trace.ended.iter().map(|ended| ended.latency).max();
    assert_eq!(longest, Some(150_000), "callers give up at their deadline");
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let mut model = model(16, 20.0, 2_400.0, 12.0, Shape::LogNormal { sigma: 0.5 });
    model.deadline_ms = 500.0;
    for law in laws::all() {
        let [mut first, mut again, mut other] = [const { None }; 3];
        for (run, seed) in [(&mut first, 1), (&mut again, 1), (&mut other, 2)] {
            let arrivals = Arrivals::new(seed, &model.stretches(), 1);
            let mut trace = Trace::default();
            law.run(&model, seed, &arrivals, Span::all(&model), &mut trace);
            *run = Some(trace);
        }
        assert_eq!(first, again, "{}", law.name);
        assert_ne!(first, other, "{}", law.name);
    }
}

#[test]
fn rows_are_the_same_bit_for_bit() {
    let mut model = model(16, 20.0, 2_400.0, 30.0, Shape::LogNormal { sigma: 0.5 });
    model.deadline_ms = 500.0;
    let laws = laws::all();
    let judge = || {
        let court = Court::open(&model, 5, NEVER);
        format!("{:?}", court.judge(&laws[0], &mut Trace::default()))
    };
    assert_eq!(judge(), judge());
}

#[test]
fn the_oracle_finds_sixteen_on_sixteen_slots() {
    // With constant work and endless demand the throughput is the limit's until 16, and the queue's beyond.
    let mut constant = model(16, 20.0, 80_000.0, 10.0, Shape::Exact);
    constant.deadline_ms = 500.0;
    let arrivals = Arrivals::new(1, &constant.stretches(), 1);
    let oracle = Oracle::find(&constant, &arrivals, NEVER);
    assert_eq!(oracle.lean, [16]);
    let best = figures(&oracle.best_run, 5 * SECOND, 10 * SECOND);
    assert!((best.goodput - 800.0).abs() < 2.0, "{best:?}");
}

#[test]
fn the_oracle_follows_each_phase() {
    let mut steps = model(16, 20.0, 20_000.0, 12.0, Shape::Exact);
    steps.deadline_ms = 500.0;
    let whole = steps.phases[0].clone();
    steps.phases.push(Phase {
        slots: 4,
        ..whole.clone()
    });
    steps.phases.push(whole);
    let arrivals = Arrivals::new(1, &steps.stretches(), 1);
    let oracle = Oracle::find(&steps, &arrivals, NEVER);
    assert_eq!(oracle.lean, [16, 4, 16]);
}
