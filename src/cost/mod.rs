//! Room 2: exact counts. Multiply-adds, bytes, cache, traffic.
//!
//! This room does not know tensors.
