//! One file per promise of the README, each told with the real command in a folder of its own.

mod changes;
mod evaluation_file;
mod force;
mod handbook;
mod law;
mod make;
mod outputs;
mod plan;
mod rescore;
mod sharing;
mod small;
mod space;
mod units;
