//! Allocations and bytes of every case of `cost`, as JSON. A program of its own for its allocator.

use benches::cost::heap;

fn main() -> serde_json::Result<()> {
    let counted = heap::count(|work| {
        let seen = allocation_counter::measure(work);
        (seen.count_total, seen.bytes_current)
    });
    println!("{}", serde_json::to_string(&counted)?);
    Ok(())
}
