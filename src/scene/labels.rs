//! The labels of the axes: exactly one per query and one per key.

use super::complaint::Complaint;
use super::decode::plural;
use super::model::{Input, SceneSpec, Tokens};
use super::resolve::Resolver;
use super::sizes::KnownSizes;
use super::tensors::TensorFiles;

/// Labels of queries and keys, where it is known how many there are. Labels that the scene gives have to fit; those of a tensor file
/// are used if they do.
pub(super) fn labels(
    spec: &SceneSpec,
    known: &KnownSizes,
    resolver: &mut Resolver<'_>,
    warnings: &mut Vec<Complaint>,
) -> Option<(Vec<String>, Vec<String>)> {
    if let (Tokens::Sides { queries, keys }, true) =
        (&spec.tokens, known.n_q.is_none() || known.n_k.is_none())
    {
        for (field, matrix, n, tokens) in
            [("tokens.queries", "Q", known.n_q, queries), ("tokens.keys", "K", known.n_k, keys)]
        {
            if let (Some(n), false) = (n, tokens.is_empty()) {
                fits(field, matrix, n, tokens, resolver);
            }
        }
    }
    let (n_q, n_k) = (known.n_q?, known.n_k?);
    let before = resolver.complaints.len();
    let named = match &spec.tokens {
        Tokens::Shared(tokens) if n_q == n_k => {
            fits("tokens", "K", n_k, tokens, resolver);
            (tokens.clone(), tokens.clone())
        }
        Tokens::Shared(_) => {
            let message = format!(
                "one list of tokens cannot name both sides: Q has {}, K has {n_k}",
                plural(n_q, "row")
            );
            resolver
                .complaints
                .push(Complaint::error("tokens", message).with_hint("write (queries: [..], keys: [..])"));
            return None;
        }
        Tokens::Sides { queries, keys } => {
            let mut side = |field: &str, matrix: &str, n: usize, tokens: &[String]| {
                if tokens.is_empty() {
                    return numbers(n);
                }
                fits(field, matrix, n, tokens, resolver);
                tokens.to_vec()
            };
            (side("tokens.queries", "Q", n_q, queries), side("tokens.keys", "K", n_k, keys))
        }
        Tokens::Numbers => from_file(spec, n_q, n_k, resolver.files, warnings),
    };
    (resolver.complaints.len() == before).then_some(named)
}

fn fits(field: &str, matrix: &str, n: usize, tokens: &[String], resolver: &mut Resolver<'_>) {
    if tokens.len() != n {
        let (rows, found) = (plural(n, "row"), plural(tokens.len(), "label"));
        let complaint = Complaint::error(field, format!("{matrix} has {rows}, {found}"))
            .with_hint("every row needs exactly one label; leave `tokens` out to number them");
        resolver.complaints.push(complaint);
    }
}

fn from_file(
    spec: &SceneSpec,
    n_q: usize,
    n_k: usize,
    files: &TensorFiles,
    warnings: &mut Vec<Complaint>,
) -> (Vec<String>, Vec<String>) {
    let (Input::Tensors { file, .. } | Input::Weights { file, .. }) = &spec.input else {
        return (numbers(n_q), numbers(n_k));
    };
    let tokens = match files.tokens(file) {
        Ok(tokens) => tokens,
        Err(error) => {
            let message = format!("positions are shown by number, for in \"{file}\" {error}");
            warnings.push(Complaint::warning("input.file", message));
            None
        }
    };
    let Some(tokens) = tokens else { return (numbers(n_q), numbers(n_k)) };
    if tokens.len() != n_q && tokens.len() != n_k {
        let found = plural(tokens.len(), "token");
        let message = format!(
            "\"{file}\" names {found} but there are {n_q} queries and {n_k} keys; positions are shown by number"
        );
        warnings.push(Complaint::warning("input.file", message));
    }
    let side = |n| if tokens.len() == n { tokens.clone() } else { numbers(n) };
    (side(n_q), side(n_k))
}

/// Numbers from 1.
fn numbers(n: usize) -> Vec<String> {
    (1..=n).map(|position| position.to_string()).collect()
}
