//! Things by number, where numbers are used again, and a number of something that is gone is known as one.

/// Things by number and generation.
#[derive(Debug)]
pub(super) struct Slab<T> {
    all: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Slab<T> {
    /// Adds a thing.
    pub(super) fn add(&mut self, thing: T) -> (u32, u32) {
        if let Some(index) = self.free.pop() {
            let place = &mut self.all[index as usize];
            place.1 = Some(thing);
            return (index, place.0);
        }
        self.all.push((0, Some(thing)));
        (self.all.len() as u32 - 1, 0)
    }

    /// The thing of this number, if it is still there.
    pub(super) fn get(&mut self, id: (u32, u32)) -> Option<&mut T> {
        let (generation, thing) = self.all.get_mut(id.0 as usize)?;
        if *generation == id.1 {
            thing.as_mut()
        } else {
            None
        }
    }

    /// The thing that has this number now.
    pub(super) fn current(&mut self, index: u32) -> Option<&mut T> {
        self.all.get_mut(index as usize)?.1.as_mut()
    }

    /// Takes away the thing that has this number now.
    pub(super) fn remove(&mut self, index: u32) -> Option<T> {
        let place = self.all.get_mut(index as usize)?;
        let thing = place.1.take()?;
        place.0 = place.0.wrapping_add(1);
        self.free.push(index);
        Some(thing)
    }
}
