//! PageRank on a weighted graph without directions.

use petgraph::graph::UnGraph;
use petgraph::visit::{EdgeRef, NodeIndexable};

/// The share of each node in the time of a walker who follows an edge, chosen by weight, with probability `damping`, and
/// starts anew at a node chosen by `start` otherwise (Page et al. 1999; with `start` other than uniform: Haveliwala 2002).
///
/// `start` has one number per node, none negative, and is scaled to a sum of 1; where it is all zeros so is the result. A node
/// without edges starts anew. After `rounds` rounds the shares are those of the power iteration, summed in the order of the
/// edges: the same bits on every machine and thread.
pub fn page_rank<N>(graph: &UnGraph<N, f64>, start: &[f64], damping: f64, rounds: u32) -> Vec<f64> {
    let nodes = graph.node_bound();
    let total: f64 = start.iter().take(nodes).sum();
    if !total.is_finite() || total <= 0.0 {
        return vec![0.0; nodes];
    }
    let mut start: Vec<f64> = start.iter().take(nodes).map(|share| share / total).collect();
    start.resize(nodes, 0.0);
    let mut strength = vec![0.0; nodes];
    let edges: Vec<(usize, usize, f64)> =
        graph.edge_references().map(|edge| (edge.source().index(), edge.target().index(), *edge.weight())).collect();
    for &(a, b, weight) in &edges {
        add(&mut strength, a, weight);
        add(&mut strength, b, weight);
    }
    let mut rank = start.clone();
    for _ in 0..rounds {
        let mut next = vec![0.0; nodes];
        let flow: Vec<f64> = rank
            .iter()
            .zip(&strength)
            .map(|(share, strength)| if *strength > 0.0 { share / strength } else { 0.0 })
            .collect();
        let stuck: f64 =
            rank.iter().zip(&strength).filter(|(_, strength)| **strength <= 0.0).map(|(share, _)| share).sum();
        for &(a, b, weight) in &edges {
            add(&mut next, b, flow.get(a).copied().unwrap_or_default() * weight);
            add(&mut next, a, flow.get(b).copied().unwrap_or_default() * weight);
        }
        for (share, start) in next.iter_mut().zip(&start) {
            *share = damping * (*share + stuck * start) + (1.0 - damping) * start;
        }
        rank = next;
    }
    rank
}

fn add(to: &mut [f64], at: usize, what: f64) {
    if let Some(place) = to.get_mut(at) {
        *place += what;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(1 - d) (I - d P^T)^-1 start` by Gaussian elimination, where P has the start in the rows of nodes without edges.
    fn dense(nodes: usize, edges: &[(u32, u32, f64)], start: &[f64], damping: f64) -> Vec<f64> {
        let mut weights = vec![vec![0.0; nodes]; nodes];
        for &(a, b, weight) in edges {
            weights[a as usize][b as usize] += weight;
            weights[b as usize][a as usize] += weight;
        }
        let total: f64 = start.iter().sum();
        let start: Vec<f64> = start.iter().map(|share| share / total).collect();
        // One row per equation, the right side last.
        let mut rows = vec![vec![0.0; nodes + 1]; nodes];
        for to in 0..nodes {
            for from in 0..nodes {
                let strength: f64 = weights[from].iter().sum();
                let step = if strength > 0.0 { weights[from][to] / strength } else { start[to] };
                rows[to][from] = f64::from(u8::from(to == from)) - damping * step;
            }
            rows[to][nodes] = (1.0 - damping) * start[to];
        }
        for pivot in 0..nodes {
            let best = (pivot..nodes).max_by(|a, b| rows[*a][pivot].abs().total_cmp(&rows[*b][pivot].abs())).unwrap();
            rows.swap(pivot, best);
            let line = rows[pivot].clone();
            for (at, row) in rows.iter_mut().enumerate().filter(|(at, _)| *at != pivot) {
                let _ = at;
                let factor = row[pivot] / line[pivot];
                row.iter_mut().zip(&line).for_each(|(value, other)| *value -= factor * other);
            }
        }
        (0..nodes).map(|node| rows[node][nodes] / rows[node][node]).collect()
    }

    fn graph(nodes: usize, edges: &[(u32, u32, f64)]) -> UnGraph<(), f64> {
        let mut graph = UnGraph::from_edges(edges);
        while graph.node_count() < nodes {
            graph.add_node(());
        }
        graph
    }

    #[test]
    fn shares_are_those_of_the_linear_system() {
        let edges = [(0, 1, 2.0), (1, 2, 1.0), (2, 3, 4.0), (0, 3, 1.0), (3, 4, 0.5)];
        for (start, damping) in [
            (vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0.85),
            (vec![1.0, 2.0, 0.0, 0.0, 0.0, 3.0], 0.5),
            (vec![1.0; 6], 0.85),
        ] {
            let found = page_rank(&graph(6, &edges), &start, damping, 200);
            let expected = dense(6, &edges, &start, damping);
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            }
        }
    }

    #[test]
    fn two_nodes_by_hand() {
        // x = d y + (1 - d), y = d x: x = 1 / (1 + d).
        let found = page_rank(&graph(2, &[(0, 1, 3.0)]), &[5.0, 0.0], 0.5, 100);
        assert!((found[0] - 2.0 / 3.0).abs() < 1e-12 && (found[1] - 1.0 / 3.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn no_start_is_nowhere() {
        assert_eq!(page_rank(&graph(2, &[(0, 1, 1.0)]), &[0.0, 0.0], 0.85, 10), [0.0, 0.0]);
        assert_eq!(page_rank(&graph(0, &[]), &[], 0.85, 10), Vec::<f64>::new());
    }
}
