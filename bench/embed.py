"""Embedding: passages a second, alone and in padded batches, questions, a cold process.

`python bench/embed.py VAULT [--texts 192] [--json]`. The passages are the vault's own chunks, cut
to 150 tokens.
"""

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from measure import TELLING_PEAK, cold_process, machine, report, spread
from numpy.typing import NDArray
from questions import known_items
from tokenizers import Tokenizer
from workspace import Workspace

from agentm_assets.index.build import build_note
from agentm_assets.models.embedder import Embedder
from agentm_assets.models.manifest import MODEL_FILE, TOKENIZER_FILE
from agentm_assets.storage.vault import Vault, content_hash
from agentm_assets.storage.vault_backend import VaultBackend

TOKENS = 150
BATCH = 32
COLD = (
    TELLING_PEAK
    + """
from agentm_assets.models.embedder import Embedder
Embedder.open(Path(sys.argv[1]), threads=1).embed_one("where did we decide on the valve?")
"""
)


def passages(root: Path, model: Path, count: int) -> list[str]:
    """The first `count` chunks that are long enough, as the embedder reads them, cut."""
    tokenizer = Tokenizer.from_file(str(model / TOKENIZER_FILE))
    tokenizer.no_padding()
    tokenizer.enable_truncation(TOKENS + 2)
    vault = Vault(VaultBackend(root, root / "no-locks"))
    found: list[str] = []
    for _, entry in sorted(vault.scan().notes.items()):
        data = vault.read_bytes(entry.path)
        for chunk in build_note(entry, data, content_hash(data), None).chunks:
            ends = [end for _, end in tokenizer.encode(chunk.embed_text).offsets]
            if len(ends) > TOKENS:
                found.append(chunk.embed_text[: ends[TOKENS - 1]])
        if len(found) >= count:
            return found[:count]
    raise SystemExit(f"the vault has only {len(found)} chunks of {TOKENS} tokens")


def measure(root: Path, *, count: int) -> dict[str, Any]:
    model = Workspace(root, dict(os.environ)).model_folder()
    texts = passages(root, model, count)
    results: dict[str, Any] = {"machine": machine(), "passages": {"n": len(texts)}}
    alone = np.empty(0, np.float32)
    for threads in (1, 2):
        embedder = Embedder.open(model, threads=threads)
        embedder.embed(texts[:16])
        rates = []
        for _ in range(3):
            began = time.perf_counter()
            alone = embedder.embed(texts)
            rates.append(len(texts) / (time.perf_counter() - began))
        results[f"each alone, {threads} threads"] = {"a_s": max(rates)}
    for threads in (1, 2):
        began = time.perf_counter()
        batched = in_batches(model, embedder, texts, threads)
        rate = len(texts) / (time.perf_counter() - began)
        results[f"batches of {BATCH}, {threads} threads"] = {
            "a_s": rate,
            "least_cosine_to_alone": float((alone * batched).sum(axis=1).min()),
        }
    results |= {"question": _questions(embedder, root), "cold process": _cold(model)}
    results["load at the end"] = {"load": machine()["load"]}
    return results


def in_batches(
    model: Path, embedder: Embedder, texts: list[str], threads: int
) -> NDArray[np.float32]:
    """The same model fed in padded batches, sorted by length: what the product does not do."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        str(model / MODEL_FILE), options, providers=["CPUExecutionProvider"]
    )
    tokenizer = Tokenizer.from_file(str(model / TOKENIZER_FILE))
    tokenizer.enable_padding()
    tokenizer.enable_truncation(embedder.max_tokens)
    vectors = np.empty((len(texts), embedder.dim), np.float32)
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    for at in range(0, len(order), BATCH):
        rows = order[at : at + BATCH]
        encoded = tokenizer.encode_batch([texts[i] for i in rows])
        ids = np.array([each.ids for each in encoded], np.int64)
        feeds = {
            "input_ids": ids,
            "attention_mask": np.array([each.attention_mask for each in encoded], np.int64),
            "token_type_ids": np.zeros_like(ids),
        }
        manifest = embedder.manifest
        vectors[rows] = session.run(
            [manifest.output], {name: feeds[name] for name in manifest.inputs}
        )[0]
    return vectors


def _questions(embedder: Embedder, root: Path) -> dict[str, float]:
    texts = [item.question for item in known_items(root, 200)]
    times = []
    for text in texts:
        began = time.perf_counter()
        embedder.embed_one(text)
        times.append((time.perf_counter() - began) * 1e3)
    return {f"ms_{name}": value for name, value in spread(times).items()}


def _cold(model: Path) -> dict[str, float]:
    """From the start of a process to the end of one that has embedded a question."""
    runs = [cold_process([COLD, str(model)], os.environ) for _ in range(10)]
    return {
        **{
            f"ms_{name}": value
            for name, value in spread([c.wall * 1e3 for _, c, _ in runs]).items()
        },
        "cpu_ms_p50": spread([cost.cpu * 1e3 for _, cost, _ in runs])["p50"],
        "peak_MB": max(peak for _, _, peak in runs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--texts", type=int, default=192)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report(measure(options.vault, count=options.texts), as_json=options.json)


if __name__ == "__main__":
    main()
