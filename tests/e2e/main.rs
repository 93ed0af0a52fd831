//! One file per promise of the README.
