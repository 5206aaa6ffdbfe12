//! A limit for each tenant: one that is slow does not take the others' slots.
//!
//! ```text
//! cargo run -p limiter-std --example keyed
//! ```

use limiter_std::law::Fixed;
use limiter_std::{Config, ConfigError, KeyRefused, Keyed, Outcome};

fn main() -> Result<(), ConfigError> {
    let tenants = Keyed::try_new(Config::new(Fixed).initial(2), 1_000)?;
    // Two requests of one tenant hang.
    let hanging = ["slow", "slow"].map(|tenant| tenants.try_acquire(tenant));
    for tenant in ["slow", "quick", "other", "slow"] {
        match tenants.try_acquire(tenant) {
            Ok(permit) => {
                println!("{tenant}: served");
                permit.finish(Outcome::Success);
            }
            Err(KeyRefused::Rejected(refused)) => println!("{tenant}: {refused}"),
            Err(KeyRefused::KeysBusy(busy)) => println!("{tenant}: {busy}"),
        }
    }
    println!("{} tenants have a limiter", tenants.len());
    drop(hanging);
    Ok(())
}

#[test]
fn the_example_ends_well() {
    main().expect("its configuration works");
}
