//! What each operation may take.

/// How many instructions there should be, and how many there may be: a change that takes more has to say so
/// here. A target that is missed is printed as such.
pub(crate) struct Bound {
    pub(crate) target: Option<u32>,
    pub(crate) most: u32,
}

const fn bound(target: u32, most: u32) -> Bound {
    Bound {
        target: Some(target),
        most,
    }
}

const fn untargeted(most: u32) -> Bound {
    Bound { target: None, most }
}

pub(crate) struct Bounds {
    pub(crate) pair: Bound,
    pub(crate) overload: Bound,
    pub(crate) refusal: Bound,
    pub(crate) aimd: Bound,
    pub(crate) knee: Bound,
    pub(crate) join: Bound,
    pub(crate) again: Bound,
    pub(crate) release: Bound,
    pub(crate) take: Bound,
    pub(crate) leave: Bound,
    pub(crate) clock: Bound,
    pub(crate) withdraw: Bound,
    pub(crate) call: Bound,
    pub(crate) save: Bound,
}

/// Without compare-and-swap, and atomics through critical sections.
#[cfg(board = "microbit")]
pub(crate) const BOUNDS: Bounds = Bounds {
    pair: bound(140, 200),
    overload: bound(75, 245),
    refusal: bound(50, 60),
    aimd: untargeted(1_080),
    knee: untargeted(7_800),
    join: bound(40, 60),
    again: bound(40, 40),
    release: bound(40, 155),
    take: bound(40, 40),
    leave: bound(40, 55),
    clock: untargeted(20),
    withdraw: bound(50, 238),
    call: bound(380, 2_650),
    save: untargeted(2_600),
};

#[cfg(not(board = "microbit"))]
pub(crate) const BOUNDS: Bounds = Bounds {
    pair: bound(80, 108),
    overload: bound(40, 160),
    refusal: bound(20, 30),
    aimd: untargeted(520),
    knee: untargeted(2_300),
    join: bound(40, 55),
    again: bound(40, 40),
    release: bound(40, 105),
    take: bound(40, 40),
    leave: bound(40, 40),
    clock: untargeted(20),
    withdraw: bound(40, 130),
    call: bound(200, 1_400),
    save: untargeted(2_050),
};
