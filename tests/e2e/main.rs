//! One file per promise of the README, each told with the real command in a folder of its own.

mod make;
mod space;
