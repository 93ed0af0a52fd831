//! A graph as DOT, Mermaid or JSON.

use std::fmt::Write;

use serde_json::json;

use super::node::{Graph, NodeId};

/// The forms a graph can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum GraphFormat {
    /// Graphviz.
    Dot,
    /// Mermaid flowchart.
    Mermaid,
    /// JSON: `{format, nodes: [{id, step, label, scope, inputs, state}]}`.
    Json,
}

/// Writes `graph`; `state` says how each node stands, in a word.
pub fn render(graph: &Graph, format: GraphFormat, state: &dyn Fn(NodeId) -> &'static str) -> String {
    match format {
        GraphFormat::Dot => dot(graph, state),
        GraphFormat::Mermaid => mermaid(graph, state),
        GraphFormat::Json => {
            let nodes: Vec<_> = graph
                .nodes()
                .map(|(id, node)| {
                    json!({
                        "id": id.0,
                        "step": node.step.name(),
                        "stage": node.step.stage().name(),
                        "label": node.label,
                        "scope": node.scope,
                        "inputs": node.inputs.iter().map(|input| input.0).collect::<Vec<_>>(),
                        "state": state(id),
                    })
                })
                .collect();
            format!("{:#}\n", json!({"format": "ragstage.graph.v1", "nodes": nodes}))
        }
    }
}

fn dot(graph: &Graph, state: &dyn Fn(NodeId) -> &'static str) -> String {
    let mut text = String::from("digraph ragstage {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for (id, node) in graph.nodes() {
        let label = node.label.replace('\\', "\\\\").replace('"', "\\\"");
        let style = if state(id) == "fresh" { "solid" } else { "dashed" };
        let _ = writeln!(text, "  n{} [label=\"{label}\\n{}\", style={style}];", id.0, state(id));
        for input in &node.inputs {
            let _ = writeln!(text, "  n{} -> n{};", input.0, id.0);
        }
    }
    text.push_str("}\n");
    text
}

fn mermaid(graph: &Graph, state: &dyn Fn(NodeId) -> &'static str) -> String {
    let mut text = String::from("flowchart LR\n");
    for (id, node) in graph.nodes() {
        let label = node.label.replace('"', "#quot;");
        let _ = writeln!(text, "  n{}[\"{label}<br/>{}\"]", id.0, state(id));
        for input in &node.inputs {
            let _ = writeln!(text, "  n{} --> n{}", input.0, id.0);
        }
    }
    text
}
