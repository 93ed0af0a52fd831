//! One file per promise of the README, each told with the real command in a folder of its own.

mod changes;
mod damage;
mod evaluation_file;
mod faults;
mod file_server;
mod force;
mod full_disk;
mod handbook;
mod interrupt;
mod kill;
mod law;
mod make;
mod models;
mod outputs;
mod plan;
mod provider;
mod quiz;
mod rescore;
mod running;
mod sharing;
mod small;
mod space;
mod store_place;
mod two_processes;
mod units;
mod values;
