//! One file per promise of the README, each told with the real command in a folder of its own.

mod damage;
mod faults;
mod full_disk;
mod interrupt;
mod kill;
mod provider;
mod quiz;
mod running;
mod space;
mod two_processes;
mod values;
