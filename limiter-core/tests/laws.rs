//! The laws, driven by windows made by hand and through real limiters in simulated time.

#[path = "laws/arbitrary.rs"]
mod arbitrary;
#[path = "laws/baselines.rs"]
mod baselines;
#[path = "laws/drive.rs"]
mod drive;
#[path = "laws/growth.rs"]
mod growth;
#[path = "laws/knee.rs"]
mod knee;
#[path = "laws/overloads.rs"]
mod overloads;
#[path = "laws/parameters.rs"]
mod parameters;
#[path = "laws/properties.rs"]
mod properties;
#[path = "laws/reference.rs"]
mod reference;
#[path = "laws/samples.rs"]
mod samples;
#[path = "laws/tables.rs"]
mod tables;
#[path = "laws/watch.rs"]
mod watch;
#[path = "laws/world.rs"]
mod world;
