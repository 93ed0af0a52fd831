//! One file per promise of the README, each told with the real command in a folder of its own.

mod handbook;
mod make;
mod space;
