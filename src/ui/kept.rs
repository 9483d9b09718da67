//! A value that is computed when its key changes, never in between.

use std::sync::Arc;

/// The value of the last key.
pub struct Kept<K, V>(Option<(K, Arc<V>)>);

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: PartialEq, V> Kept<K, V> {
    /// The value of `key`, computed unless it is the one that is kept.
    pub fn get(&mut self, key: K, compute: impl FnOnce(&K) -> V) -> Arc<V> {
        match &self.0 {
            Some((old, value)) if *old == key => Arc::clone(value),
            _ => {
                let value = Arc::new(compute(&key));
                self.0 = Some((key, Arc::clone(&value)));
                value
            }
        }
    }
}
