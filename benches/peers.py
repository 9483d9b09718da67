"""Qkv beside NumPy and PyTorch, each called as a user would call it.

Needs `numpy` and, for half of the lines, `torch`; installs nothing. Build the program first:

    cargo build --release --no-default-features
    python benches/peers.py target/release/qkv

Rounds alternate between the programs, so that a busy machine slows both; a line gives the median over the rounds of each
side's median, their ratio, and the ratio of the best rounds. Above 1, Qkv is faster. `README.md` says what to expect.
"""

import json
import statistics
import subprocess
import sys
import time

ROUNDS = 5
D = 64

try:
    import numpy as np
except ImportError:
    sys.exit("peers.py needs NumPy: pip install numpy")
try:
    import torch
except ImportError:
    torch = None
    print("PyTorch is not installed; its lines are left out (pip install torch)\n")


def reading(q, k, v):
    """Attention as the readings write it, every stage kept."""
    raw = q @ k.T
    scaled = raw / np.sqrt(q.shape[1])
    exps = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    weights = exps / exps.sum(axis=1, keepdims=True)
    return raw, scaled, weights, weights @ v


def numpy_peer(n, dtype):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((n, D)).astype(dtype) for _ in range(3))
    return lambda: reading(q, k, v)


def torch_peer(heads, n, causal):
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, heads, n, D) for _ in range(3))
    attention = torch.nn.functional.scaled_dot_product_attention
    return lambda: attention(q, k, v, is_causal=causal)


def median_ms(run, seconds=1.0):
    run()
    times, begin = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def qkv_ms(program, work, n):
    command = [program, "bench", "--json", "--only", work, "--at", str(n)]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return report["measurements"][0]["median_ms"]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python benches/peers.py target/release/qkv")
    program = sys.argv[1]
    lines = [
        ("output, T = 4096, f32", "NumPy", "output", 4096, lambda: numpy_peer(4096, np.float32)),
        ("five stages, T = 2048, f64", "NumPy", "stages", 2048, lambda: numpy_peer(2048, np.float64)),
        ("five stages, T = 64, f64", "NumPy", "stages", 64, lambda: numpy_peer(64, np.float64)),
    ]
    if torch is not None:
        lines += [
            ("output, T = 4096, f32", "PyTorch", "output", 4096, lambda: torch_peer(1, 4096, False)),
            ("causal output, T = 4096, f32", "PyTorch", "causal", 4096, lambda: torch_peer(1, 4096, True)),
            ("12 heads, T = 1024, f32", "PyTorch", "heads", 1024, lambda: torch_peer(12, 1024, False)),
        ]
    print(f"{'work':32}{'peer':9}{'peer ms':>10}{'qkv ms':>10}{'ratio':>8}{'of best':>9}")
    for name, peer, work, n, make in lines:
        run = make()
        theirs, ours = [], []
        for _ in range(ROUNDS):
            theirs.append(median_ms(run))
            ours.append(qkv_ms(program, work, n))
        their, our = statistics.median(theirs), statistics.median(ours)
        best = min(theirs) / min(ours)
        print(f"{name:32}{peer:9}{their:10.3f}{our:10.3f}{their / our:8.2f}{best:9.2f}", flush=True)


if __name__ == "__main__":
    main()
