//! One file per promise of the README, each told with the real command in a folder of its own.

mod answers;
mod changes;
#[path = "../../stages/tests/graphs/chat_server.rs"]
mod chat_server;
mod counting_proxy;
mod damage;
mod evaluation_file;
mod faults;
mod file_server;
mod force;
mod full_disk;
mod graph;
mod handbook;
mod interrupt;
mod kill;
mod law;
mod make;
mod model_faults;
mod model_server;
mod models;
mod outputs;
mod own_system;
mod plan;
mod provider;
mod quiz;
mod rescore;
mod running;
mod search_modes;
mod sharing;
mod small;
mod space;
mod store_place;
mod two_processes;
mod units;
mod values;
mod wire;
