//! heta_adapters
