//! The cases of `cost` for criterion, which compares runs with each other: `cargo bench -p benches`.

use benches::cost::catalogue::{CASES, operations};
use criterion::{BenchmarkId, Criterion};
use std::time::Instant;

fn all(criterion: &mut Criterion) {
    for op in operations() {
        let mut group = criterion.benchmark_group(op);
        for case in CASES.iter().filter(|case| case.op == op) {
            let subject = case.build();
            let mut next = 1;
            group.bench_function(BenchmarkId::from_parameter(case.who), |bencher| {
                bencher.iter_custom(|operations| {
                    let first = next;
                    next += operations;
                    let start = Instant::now();
                    std::hint::black_box(subject.run(first..next));
                    start.elapsed()
                });
            });
        }
        group.finish();
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    all(&mut criterion);
    criterion.final_summary();
}
