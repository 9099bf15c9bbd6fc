"""Makes the reference files of this folder with PyTorch and transformers, which nothing else here needs:

    python -m venv /tmp/torch && /tmp/torch/bin/pip install torch transformers safetensors
    /tmp/torch/bin/python tests/reference/make.py [MINILM_FOLDER]

- Small models with random weights, one folder each as the transformers library saves them, with inputs and outputs
  in reference.safetensors (caseN.input_ids, …, caseN.last_hidden_state, caseN.sentence_embedding). Between them
  they cover: f32, f16 and bf16; one file and shards; bare names and a head's prefix; all activations; both ways of
  pooling, with and without normalization; padding on either side and within.
- minilm.safetensors, of all-MiniLM-L6-v2, if its folder is given.

All outputs are computed in float32 with eager attention.
"""

import json
import pathlib
import shutil
import sys

import torch
import transformers
from safetensors import safe_open
from safetensors.torch import load_file, save_file

here = pathlib.Path(__file__).resolve().parent
made_with = f"torch {torch.__version__}, transformers {transformers.__version__}, float32, eager attention"
vocab, width, layers, heads, inner, positions = 50, 24, 2, 3, 40, 20

bert = dict(vocab_size=vocab, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
            intermediate_size=inner, max_position_embeddings=positions)
# Folder → configuration, element type, prefix of names, most bytes a shard, pooling.
models = {
    "bert": (transformers.BertConfig(**bert, type_vocab_size=3, hidden_act="gelu_new", layer_norm_eps=1e-12),
             torch.float32, "bert.", None, None),
    "bert-sharded": (transformers.BertConfig(**bert, hidden_act="relu", layer_norm_eps=1e-5),
                     torch.float32, "", 16384, ("mean", True)),
    "roberta": (transformers.RobertaConfig(**bert, type_vocab_size=1, hidden_act="gelu", layer_norm_eps=1e-5,
                                           pad_token_id=1),
                torch.float16, "roberta.", None, ("cls", True)),
    "xlm-roberta": (transformers.XLMRobertaConfig(**bert, type_vocab_size=1, hidden_act="silu", pad_token_id=3),
                    torch.bfloat16, "", None, None),
    "distilbert": (transformers.DistilBertConfig(vocab_size=vocab, dim=width, n_layers=layers, n_heads=heads,
                                                 hidden_dim=inner, max_position_embeddings=positions),
                   torch.float32, "distilbert.", None, ("mean", False)),
}


def pool(hidden, mask, how, normalize):
    """As the sentence-transformers library does."""
    weights = mask.unsqueeze(-1).float()
    pooled = hidden[:, 0] if how == "cls" else (hidden * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
    return torch.nn.functional.normalize(pooled, p=2, dim=1) if normalize else pooled


def evaluate(model, pooling, inputs):
    """Inputs and outputs of one batch; `inputs` may leave out what the model has defaults for."""
    with torch.no_grad():
        hidden = model(**inputs).last_hidden_state
    outputs = dict(inputs, last_hidden_state=hidden)
    if pooling:
        mask = inputs.get("attention_mask", torch.ones_like(inputs["input_ids"]))
        outputs["sentence_embedding"] = pool(hidden, mask, *pooling)
    return {name: tensor.contiguous() for name, tensor in outputs.items()}


def save_cases(path, cases, **metadata):
    save_file({f"case{i}.{name}": tensor for i, case in enumerate(cases) for name, tensor in case.items()},
              path, metadata=dict(metadata, made_with=made_with))


def batch(config, generator, sizes, length, side):
    """Token ids of sentences of these sizes, padded on one side, or with holes in the middle."""
    pad = config.pad_token_id
    ids = torch.full((len(sizes), length), pad)
    mask = torch.zeros_like(ids)
    for row, size in enumerate(sizes):
        where = {"right": range(size), "left": range(length - size, length),
                 "within": sorted(torch.randperm(length, generator=generator)[:size].tolist())}[side]
        for column in where:
            ids[row, column] = torch.randint(4, vocab, (), generator=generator)
            mask[row, column] = 1
    inputs = dict(input_ids=ids, attention_mask=mask)
    if getattr(config, "type_vocab_size", 0) and config.model_type != "distilbert":
        inputs["token_type_ids"] = torch.randint(0, config.type_vocab_size, ids.shape, generator=generator)
    return inputs


def make_small(name, config, dtype, prefix, shard_bytes, pooling):
    torch.manual_seed(sum(name.encode()))
    generator = torch.Generator().manual_seed(len(name))
    config._attn_implementation = "eager"
    model = transformers.AutoModel.from_config(config).eval()
    for parameter in model.parameters():  # fresh norms and biases are ones and zeros; these tell more
        parameter.data = (parameter.data + 0.3 * torch.randn(parameter.shape)).to(dtype).float()

    folder = here / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    config.dtype = dtype
    config.save_pretrained(folder)
    tensors = {prefix + key: tensor.to(dtype) if tensor.is_floating_point() else tensor
               for key, tensor in model.state_dict().items()}
    if name == "bert":  # the names of checkpoints that come from TensorFlow, and a head
        tensors = {key.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
                   for key, value in tensors.items()} | {"cls.predictions.bias": torch.zeros(vocab, dtype=dtype)}
    if not shard_bytes:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    else:
        shards, placed = [{}], {}
        for key, tensor in tensors.items():
            if shards[-1] and sum(t.nbytes for t in shards[-1].values()) + tensor.nbytes > shard_bytes:
                shards.append({})
            shards[-1][key] = tensor
        for i, shard in enumerate(shards):
            file = f"model-{i + 1:05}-of-{len(shards):05}.safetensors"
            save_file(shard, folder / file, metadata={"format": "pt"})
            placed |= {key: file for key in shard}
        (folder / "model.safetensors.index.json").write_text(
            json.dumps({"metadata": {"total_size": sum(t.nbytes for t in tensors.values())}, "weight_map": placed},
                       indent=1) + "\n")
    if pooling:
        how, normalize = pooling
        modules = ["Transformer", "Pooling"] + ["Normalize"] * normalize
        (folder / "modules.json").write_text(json.dumps(
            [{"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": f"sentence_transformers.models.{kind}"}
             for i, kind in enumerate(modules)], indent=1) + "\n")
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(
            {"word_embedding_dimension": width, "pooling_mode_cls_token": how == "cls",
             "pooling_mode_mean_tokens": how == "mean", "pooling_mode_max_tokens": False}, indent=1) + "\n")

    longest = positions - (config.pad_token_id + 1 if "roberta" in name else 0)
    batches = [batch(config, generator, [1], 1, "right"), batch(config, generator, [7, 2, 5], 7, "right"),
               batch(config, generator, [3, 6], 9, "left"), batch(config, generator, [4, 8], 11, "within"),
               batch(config, generator, [longest, 1], longest, "right")]
    batches.append({"input_ids": batches[1]["input_ids"].clone()})  # the rest by default
    save_cases(folder / "reference.safetensors", [evaluate(model, pooling, inputs) for inputs in batches])


def make_minilm(folder):
    """The outputs for the inputs of the file that is there."""
    path = here / "minilm.safetensors"
    before = load_file(path)
    with safe_open(path, "pt") as file:
        metadata = file.metadata()
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    names = ["input_ids", "attention_mask", "token_type_ids"]
    count = len({name.split(".")[0] for name in before})
    cases = [evaluate(model, ("mean", True), {name: before[f"case{i}.{name}"] for name in names})
             for i in range(count)]
    save_cases(path, cases, sentences=metadata["sentences"], model=metadata["model"])
    difference = max((tensor.double() - before[name].double()).abs().max() for name, tensor in load_file(path).items())
    print(f"minilm.safetensors: differs by at most {difference:.2e} from before")


for name, arguments in models.items():
    make_small(name, *arguments)
for folder in sys.argv[1:]:
    make_minilm(folder)
