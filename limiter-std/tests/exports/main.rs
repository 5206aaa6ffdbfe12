//! What leaves the process: metrics, events, the page, and the files that use them.

mod deploy;
mod edges;
mod published;
mod recorder;
mod table;
