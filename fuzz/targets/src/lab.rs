//! Files for the law lab: an error that says where, or a model.

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else {
        return;
    };
    match benches::lab::config::read(text) {
        Ok(configured) => assert!(!configured.model.phases.is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
