#!/usr/bin/env python3
"""Writes the Transformer of "Attention Is All You Need" (Vaswani et al. 2017) of any size as a module.

  transformer.py > base.mlir                        the base model of the paper: width 512, 8 heads, 6 + 6 layers
  transformer.py --name reverse --width 64 ...      the small one that train.py trains

Entries: `transformer`, both sides at once; `encode` and `decode`, one token at a time with caches of keys and values.
Layers are private functions with their parameters as arguments, so that code grows with distinct layers only.
"""

import argparse
import math
import re
import string
import textwrap

MODULE = """\
// The Transformer of "Attention Is All You Need" (Vaswani et al. 2017): width $width, $heads heads, inner width $inner,
// $layers + $layers layers, $vocabulary tokens. Written by transformer.py.
!ids = tensor<?x?xi64>
!lengths = tensor<?xi64>
!hidden = tensor<?x?x${width}xf32>
!heads = tensor<?x${heads}x?x${head_width}xf32>
!split = tensor<?x?x${heads}x${head_width}xf32>
!scores = tensor<?x${heads}x?x?xf32>
!inner = tensor<?x?x${inner}xf32>
!logits = tensor<?x?x${vocabulary}xf32>
!words = tensor<${vocabulary}x${width}xf32>
!vector = tensor<${width}xf32>
!inner_vector = tensor<${inner}xf32>
!project = tensor<${width}x${width}xf32>
!widen = tensor<${inner}x${width}xf32>
!narrow = tensor<${width}x${inner}xf32>

module @$name attributes {heed.params = "$name.safetensors"} {
  // Words and positions (sections 3.4 and 3.5).
  func.func private @embed(%words: !words, %ids: !ids) -> !hidden {
    %embedded = attn.embedding %words, %ids : (!words, !ids) -> !hidden
    %scaled = attn.scale %embedded by $root_width : !hidden
    %placed = attn.sinusoidal_positions %scaled : !hidden
    return %placed : !hidden
  }

  func.func private @embed_at(%words: !words, %ids: !ids, %position: !lengths) -> !hidden {
    %embedded = attn.embedding %words, %ids : (!words, !ids) -> !hidden
    %scaled = attn.scale %embedded by $root_width : !hidden
    %placed = attn.sinusoidal_positions %scaled offset(%position : !lengths) : !hidden
    return %placed : !hidden
  }

  // Multi-head attention (section 3.2.2) to the tokens that the mask keeps.
  func.func private @attend(%query: !hidden, %key: !hidden, %value: !hidden, %mask: !ids) -> !hidden {
    %q = attn.split_heads %query heads($heads) : !hidden -> !heads
    %k = attn.split_heads %key heads($heads) : !hidden -> !heads
    %v = attn.split_heads %value heads($heads) : !hidden -> !heads
    %scores = attn.matmul %q, %k transpose_rhs : (!heads, !heads) -> !scores
    %scaled = attn.scale %scores by $scale : !scores
    %masked = attn.mask %scaled reads(%mask : !ids) maps [affine_map<(b, h, q, k) -> (b, k)>] keep {
    ^bb0(%b: index, %h: index, %i: index, %j: index, %queries: index, %keys: index, %flag: i64):
      %zero = arith.constant 0 : i64
      %keep = arith.cmpi ne, %flag, %zero : i64
      attn.yield %keep : i1
    } : !scores
    %weights = attn.softmax %masked : !scores
    %attended = attn.matmul %weights, %v : (!scores, !heads) -> !heads
    %merged = attn.merge_heads %attended : !heads -> !hidden
    return %merged : !hidden
  }

  // The same to the tokens so far.
  func.func private @attend_causal(%query: !hidden, %key: !hidden, %value: !hidden) -> !hidden {
    %q = attn.split_heads %query heads($heads) : !hidden -> !heads
    %k = attn.split_heads %key heads($heads) : !hidden -> !heads
    %v = attn.split_heads %value heads($heads) : !hidden -> !heads
    %scores = attn.matmul %q, %k transpose_rhs : (!heads, !heads) -> !scores
    %scaled = attn.scale %scores by $scale : !scores
    %masked = attn.mask %scaled keep {
    ^bb0(%b: index, %h: index, %i: index, %j: index, %queries: index, %keys: index):
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    } : !scores
    %weights = attn.softmax %masked : !scores
    %attended = attn.matmul %weights, %v : (!scores, !heads) -> !heads
    %merged = attn.merge_heads %attended : !heads -> !hidden
    return %merged : !hidden
  }

  // The same from the new tokens to those in the cache, each up to its own; the cache is read where it lies.
  func.func private @attend_cached(%query: !hidden, %keys: !hidden, %values: !hidden, %position: !lengths) -> !hidden {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %batch = tensor.dim %query, %c0 : !hidden
    %new = tensor.dim %query, %c1 : !hidden
    %capacity = tensor.dim %keys, %c1 : !hidden
    %q = tensor.expand_shape %query [[0], [1], [2, 3]] output_shape [%batch, %new, $heads, $head_width]
      : !hidden into !split
    %k = tensor.expand_shape %keys [[0], [1], [2, 3]] output_shape [%batch, %capacity, $heads, $head_width]
      : !hidden into !split
    %v = tensor.expand_shape %values [[0], [1], [2, 3]] output_shape [%batch, %capacity, $heads, $head_width]
      : !hidden into !split
    %attended = attn.attention %q, %k, %v scale($scale) layout("bqhd,bkhd,bkhe->bqhe")
      query_offset(%position : !lengths) keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index, %queries: index, %keys_length: index):
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      } : !split, !split, !split -> !split
    %merged = tensor.collapse_shape %attended [[0], [1], [2, 3]] : !split into !hidden
    return %merged : !hidden
  }

  // The output projection of attention, added to what went in and normalized.
  func.func private @add_and_norm(%attended: !hidden, %x: !hidden, %w: !project, %b: !vector, %gamma: !vector,
      %beta: !vector) -> !hidden {
    %projected = attn.linear %attended, %w, %b : !hidden, !project, !vector -> !hidden
    %added = arith.addf %projected, %x : !hidden
    %normed = attn.layer_norm %added, %gamma, %beta epsilon(1.0e-5) : !hidden, !vector, !vector
    return %normed : !hidden
  }

  // The feed-forward network (section 3.3), added to what went in and normalized.
  func.func private @feed_forward(%x: !hidden, %w_1: !widen, %b_1: !inner_vector, %w_2: !narrow, %b_2: !vector,
      %gamma: !vector, %beta: !vector) -> !hidden {
    %wide = attn.linear %x, %w_1, %b_1 : !hidden, !widen, !inner_vector -> !inner
    %active = attn.relu %wide : !inner
    %narrow = attn.linear %active, %w_2, %b_2 : !inner, !narrow, !vector -> !hidden
    %added = arith.addf %narrow, %x : !hidden
    %normed = attn.layer_norm %added, %gamma, %beta epsilon(1.0e-5) : !hidden, !vector, !vector
    return %normed : !hidden
  }
"""

# A layer: what it computes from its inputs, and its parameters (argument, name, type) in the order of the call.


def linear(argument, name, matrix="!project", vector="!vector"):
    return [(f"w_{argument}", f"{name}.weight", matrix), (f"b_{argument}", f"{name}.bias", vector)]


def attention(prefix, name):
    return [parameter for part in ("query", "key", "value", "output")
            for parameter in linear(prefix + part[0], f"{name}_attention.{part}")]


def norm(number):
    return [(f"gamma_{number}", f"norm_{number}.weight", "!vector"),
            (f"beta_{number}", f"norm_{number}.bias", "!vector")]


FEED_FORWARD = linear("1", "widen", "!widen", "!inner_vector") + linear("2", "narrow", "!narrow")
ENCODER = attention("", "self") + norm(1) + FEED_FORWARD + norm(2)
DECODER = attention("", "self") + norm(1) + attention("m", "cross") + norm(2) + FEED_FORWARD + norm(3)
MEMORY = attention("m", "cross")[2:6]  # the keys and values that a decoder layer makes of the memory
STEP = [parameter for parameter in DECODER if parameter not in MEMORY]

SELF = """\
    %query = attn.linear %x, %w_q, %b_q : !hidden, !project, !vector -> !hidden
    %key = attn.linear %x, %w_k, %b_k : !hidden, !project, !vector -> !hidden
    %value = attn.linear %x, %w_v, %b_v : !hidden, !project, !vector -> !hidden
"""
CROSS_AND_FEED_FORWARD = """\
    %x1 = call @add_and_norm(%attended, %x, %w_o, %b_o, %gamma_1, %beta_1)
      : (!hidden, !hidden, !project, !vector, !vector, !vector) -> !hidden
    %recall = attn.linear %x1, %w_mq, %b_mq : !hidden, !project, !vector -> !hidden
    %recalled = call @attend(%recall, %memory_key, %memory_value, %source_mask)
      : (!hidden, !hidden, !hidden, !ids) -> !hidden
    %x2 = call @add_and_norm(%recalled, %x1, %w_mo, %b_mo, %gamma_2, %beta_2)
      : (!hidden, !hidden, !project, !vector, !vector, !vector) -> !hidden
    %x3 = call @feed_forward(%x2, %w_1, %b_1, %w_2, %b_2, %gamma_3, %beta_3)
      : (!hidden, !widen, !inner_vector, !narrow, !vector, !vector, !vector) -> !hidden
"""
LAYERS = [
    ("Figure 1, left: attention to the source, and the feed-forward network.",
     "encoder_layer", [("x", "!hidden"), ("source_mask", "!ids")], ENCODER, "!hidden", SELF + """\
    %attended = call @attend(%query, %key, %value, %source_mask) : (!hidden, !hidden, !hidden, !ids) -> !hidden
    %x1 = call @add_and_norm(%attended, %x, %w_o, %b_o, %gamma_1, %beta_1)
      : (!hidden, !hidden, !project, !vector, !vector, !vector) -> !hidden
    %x2 = call @feed_forward(%x1, %w_1, %b_1, %w_2, %b_2, %gamma_2, %beta_2)
      : (!hidden, !widen, !inner_vector, !narrow, !vector, !vector, !vector) -> !hidden
    return %x2 : !hidden
"""),
    ("What a decoder layer reads of the source.",
     "memory", [("memory", "!hidden")], MEMORY, "(!hidden, !hidden)", """\
    %key = attn.linear %memory, %w_mk, %b_mk : !hidden, !project, !vector -> !hidden
    %value = attn.linear %memory, %w_mv, %b_mv : !hidden, !project, !vector -> !hidden
    return %key, %value : !hidden, !hidden
"""),
    ("Figure 1, right: attention to the target so far, attention to the source, and the feed-forward network.",
     "decoder_layer",
     [("x", "!hidden"), ("memory_key", "!hidden"), ("memory_value", "!hidden"), ("source_mask", "!ids")],
     STEP, "!hidden", SELF + """\
    %attended = call @attend_causal(%query, %key, %value) : (!hidden, !hidden, !hidden) -> !hidden
""" + CROSS_AND_FEED_FORWARD + """\
    return %x3 : !hidden
"""),
    ("The same for new tokens alone, with the keys and values of those before them in caches.",
     "decoder_step",
     [("x", "!hidden"), ("memory_key", "!hidden"), ("memory_value", "!hidden"), ("source_mask", "!ids"),
      ("position", "!lengths"), ("keys", "!hidden", 1), ("values", "!hidden", 2)],
     STEP, "(!hidden, !hidden, !hidden)", SELF + """\
    %new_keys = attn.cache_update %keys, %key at %position : !hidden, !hidden, !lengths
    %new_values = attn.cache_update %values, %value at %position : !hidden, !hidden, !lengths
    %attended = call @attend_cached(%query, %new_keys, %new_values, %position)
      : (!hidden, !hidden, !hidden, !lengths) -> !hidden
""" + CROSS_AND_FEED_FORWARD + """\
    return %x3, %new_keys, %new_values : !hidden, !hidden, !hidden
"""),
]


def wrap(text, indent):
    """At most 120 columns, with no break inside `value: type` or `name = value`, nor before a brace."""
    glued = re.sub(r"(?<=[:=>]) | (?=[={])", "\0", text)
    return textwrap.fill(glued, 120, initial_indent=indent, subsequent_indent=indent + "    ", break_long_words=False,
                         break_on_hyphens=False).replace("\0", " ")


def declare(value, type, state=None):
    return f"%{value}: {type}" + ("" if state is None else f" {{attn.strided, attn.state = {state}}}")


def layer_function(comment, name, inputs, parameters, results, body):
    arguments = [declare(*argument) for argument in inputs] + [declare(a, type) for a, _, type in parameters]
    signature = wrap(f"func.func private @{name}({', '.join(arguments)}) -> {results} {{", "  ")
    return f"\n  // {comment}\n{signature}\n{body}  }}\n"


def layer_call(callee, number, results, operands):
    """Layer `number` with its parameters. operands: values for the inputs of the layer."""
    _, _, inputs, parameters, result_types, _ = next(layer for layer in LAYERS if layer[1] == callee)
    side = "encoder" if callee == "encoder_layer" else "decoder"
    values = {name: f"%{callee.split('_')[0]}_{number}_{argument}" for argument, name, _ in parameters}
    lines = [f'    {values[name]} = attn.param "{side}.{number}.{name}" : {type}' for _, name, type in parameters]
    types = [argument[1] for argument in inputs] + [type for _, _, type in parameters]
    lines.append(wrap(f"{results} = call @{callee}({', '.join([*operands, *values.values()])})", "    "))
    lines.append(wrap(f": ({', '.join(types)}) -> {result_types}", "      "))
    return "\n".join(["", *lines, ""])


def argument(name, type, *attributes):
    return wrap(f'%{name}: {type} {{attn.name = "{name}", {", ".join(attributes)}}}', "      ")


def result(name, type, shape):
    return f'{type} {{attn.name = "{name}", attn.shape = {shape}}}'


def entry(comment, name, arguments, results, body, attributes=""):
    return (f"\n  // {comment}\n  func.func @{name}(\n" + ",\n".join(arguments) + ")\n      -> (" +
            ",\n          ".join(results) + f"){attributes} {{\n" + body + "  }\n")


def returns(values):
    names, types = zip(*values)
    return wrap(f"return {', '.join(names)} : {', '.join(types)}", "    ") + "\n"


def entries(layers):
    ids = "attn.range = [0, $last]"
    source = [argument("source_ids", "!ids", 'attn.shape = ["batch", "source"]', ids)]
    mask = [argument("source_mask", "!ids", 'attn.shape = ["batch", "source"]', 'attn.optional = "ones"',
                     "attn.range = [0, 1]")]
    words = '    %words = attn.param "embedding.weight" : !words\n'
    embed_source = words + "    %memory_0 = call @embed(%words, %source_ids) : (!words, !ids) -> !hidden\n"
    encoder = embed_source + "".join(
        layer_call("encoder_layer", i, f"%memory_{i + 1}", [f"%memory_{i}", "%source_mask"]) for i in range(layers))
    memory = [layer_call("memory", i, f"%memory_key_{i}, %memory_value_{i}", [f"%memory_{layers}"])
              for i in range(layers)]
    memory_names = [f"memory_{part}_{i}" for i in range(layers) for part in ("key", "value")]
    cache_names = [f"{part}_{i}" for i in range(layers) for part in ("keys", "values")]
    cross = [[f"%memory_key_{i}", f"%memory_value_{i}", "%source_mask"] for i in range(layers)]
    project = f"\n    %logits = attn.linear %x_{layers}, %words : !hidden, !words -> !logits\n"

    text = entry("Figure 1, whole: the probabilities of the token after each of the target's.", "transformer",
                 source + mask + [argument("target_ids", "!ids", 'attn.shape = ["batch", "target"]', ids)],
                 [result("probabilities", "!logits", '["batch", "target", $vocabulary]')],
                 encoder + "\n    %x_0 = call @embed(%words, %target_ids) : (!words, !ids) -> !hidden\n" +
                 "".join(memory[i] + layer_call("decoder_layer", i, f"%x_{i + 1}", [f"%x_{i}", *cross[i]])
                         for i in range(layers)) +
                 project + "    %probabilities = attn.softmax %logits : !logits\n" +
                 returns([("%probabilities", "!logits")]))
    text += entry("The source, once: the keys and values that the decoder reads.", "encode", source + mask,
                  [result(name, "!hidden", '["batch", "source", $width]') for name in memory_names],
                  encoder + "".join(memory) + "\n" + returns([(f"%{name}", "!hidden") for name in memory_names]))
    memory_inputs = [argument(name, "!hidden", 'attn.shape = ["batch", "source", $width]') for name in memory_names]
    caches = [argument(name, "!hidden", 'attn.shape = ["batch", "capacity", $width]', "attn.strided",
                       f"attn.state = {number}") for number, name in enumerate(cache_names, 1)]
    text += entry("New tokens, whose keys and values join the caches: the likeliest token after each.", "decode",
                  [argument("token_ids", "!ids", 'attn.shape = ["batch", "new"]', ids),
                   argument("position", "!lengths", 'attn.shape = ["batch"]', 'attn.range = [0, "capacity - new"]')] +
                  mask + memory_inputs + caches,
                  [result("next_ids", "!ids", '["batch", "new"]')] + ["!hidden"] * len(cache_names),
                  words + "    %x_0 = call @embed_at(%words, %token_ids, %position)\n"
                          "      : (!words, !ids, !lengths) -> !hidden\n" +
                  "".join(layer_call("decoder_step", i, f"%x_{i + 1}, %new_keys_{i}, %new_values_{i}",
                                     [f"%x_{i}", *cross[i], "%position", f"%keys_{i}", f"%values_{i}"])
                          for i in range(layers)) +
                  project + "    %next_ids = attn.argmax %logits : !logits -> !ids\n" +
                  returns([("%next_ids", "!ids")] + [(f"%new_{name}", "!hidden") for name in cache_names]),
                  '\n      attributes {attn.require = ["new <= capacity"]}')
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("name", "base"), ("width", 512), ("heads", 8), ("inner", 2048), ("layers", 6),
                          ("vocabulary", 37000)):
        parser.add_argument(f"--{name}", type=type(default), default=default)
    options = vars(parser.parse_args())
    head_width = options["width"] // options["heads"]
    text = MODULE + "".join(layer_function(*layer) for layer in LAYERS) + entries(options["layers"]) + "}\n"
    print(string.Template(text).substitute(
        options, head_width=head_width, last=options["vocabulary"] - 1,
        root_width=math.sqrt(options["width"]), scale=1 / math.sqrt(head_width)), end="")


if __name__ == "__main__":
    main()
