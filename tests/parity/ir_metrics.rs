//! ir_metrics
