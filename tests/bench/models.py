"""The works as heed's users write them: graphs in the attn dialect.

The dynamic form leaves the sizes open that differ from call to call in use: rows, batch, lengths. The static form
states them all, for those who know them.
"""

from works import BASE, MINILM  # noqa: F401


def size(value, static):
    return str(value) if static else "?"


def gemm(work, static):
    m = size(work.m, static)
    x, y = f"tensor<{m}x{work.k}xf32>", f"tensor<{m}x{work.n}xf32>"
    w, b = f"tensor<{work.n}x{work.k}xf32>", f"tensor<{work.n}xf32>"
    rows = work.m if static else '"rows"'
    arguments, results, body, returned = [], [], [], []
    for i in range(work.copies):
        arguments.append(f'%x{i}: {x} {{attn.name = "x{i}", attn.shape = [{rows}, {work.k}]}}')
        results.append(f'{y} {{attn.name = "y{i}", attn.shape = [{rows}, {work.n}]}}')
        body += [f'%w{i} = attn.param "w{i}" : {w}', f'%b{i} = attn.param "b{i}" : {b}',
                 f"%s{i} = attn.linear %x{i}, %w{i}, %b{i} : {x}, {w}, {b} -> {y}"]
        if work.activation:
            body.append(f"%y{i} = attn.{work.activation} %s{i} : {y}")
        returned.append(f"%{'y' if work.activation else 's'}{i}")
    return function(arguments, results, body, returned, [y] * work.copies)


def attention(work, static):
    b, q, k = (size(value, static) for value in (work.batch, work.queries, work.keys))
    query, key = f"tensor<{b}x{work.heads}x{q}x{work.d}xf32>", f"tensor<{b}x{work.kv_heads}x{k}x{work.d}xf32>"
    scores = f"tensor<{b}x{work.heads}x{q}x{k}xf32>"
    names = [work.batch, work.queries, work.keys] if static else ['"batch"', '"queries"', '"keys"']

    def shape(heads, length):
        return f"attn.shape = [{names[0]}, {heads}, {length}, {work.d}]"

    arguments = [f'%q: {query} {{attn.name = "q", {shape(work.heads, names[1])}}}',
                 f'%k: {key} {{attn.name = "k", {shape(work.kv_heads, names[2])}}}',
                 f'%v: {key} {{attn.name = "v", {shape(work.kv_heads, names[2])}}}']
    results = [f'{query} {{attn.name = "y", {shape(work.heads, names[1])}}}']
    keep = []
    if work.mask:
        rule = "attn.causal %i, %j" if work.mask == "causal" else \
            f"attn.window %i, %j before({work.window - 1}) after(0)"
        keep = ["keep {",
                "^bb0(%b: index, %h: index, %i: index, %j: index, %queries: index, %keys: index):",
                f"%keep = {rule}",
                "attn.yield %keep : i1",
                "}"]
    if work.heads != work.kv_heads:
        body = [f'%y = attn.attention %q, %k, %v scale({work.scale!r}) layout("bhqd,bhkd,bhke->bhqe")', *keep,
                f": {query}, {key}, {key} -> {query}"]
    else:
        body = [f"%scores = attn.matmul %q, %k transpose_rhs : ({query}, {key}) -> {scores}",
                f"%scaled = attn.scale %scores by {work.scale!r} : {scores}"]
        last = "%scaled"
        if work.mask:
            body += ["%masked = attn.mask %scaled", *keep, f": {scores}"]
            last = "%masked"
        body += [f"%weights = attn.softmax {last} : {scores}",
                 f"%y = attn.matmul %weights, %v : ({scores}, {key}) -> {query}"]
    return function(arguments, results, body, ["%y"], [query])


def layer(work, static):
    """An encoder or decoder layer (Vaswani et al. 2017, figure 1): each part is added to its input and normalized."""
    b, s = size(work.batch, static), size(work.seq, static)
    width, inner, heads = BASE["width"], BASE["inner"], BASE["heads"]
    names = f"[{work.batch}, {work.seq}, {width}]" if static else f'["batch", "seq", {width}]'
    hidden, wide = f"tensor<{b}x{s}x{width}xf32>", f"tensor<{b}x{s}x{inner}xf32>"
    split, scores = f"tensor<{b}x{heads}x{s}x{width // heads}xf32>", f"tensor<{b}x{heads}x{s}x{s}xf32>"
    types = {name: f"tensor<{'x'.join(map(str, array.shape))}xf32>" for name, array in work.weights().items()}
    body = [f'%{name.replace(".", "_")} = attn.param "{name}" : {type}' for name, type in types.items()]

    def linear(result, operand, name, source, target):
        body.append(f"{result} = attn.linear {operand}, %{name}_weight, %{name}_bias : "
                    f"{source}, {types[name + '.weight'].replace('_', '.')}, {types[name + '.bias']} -> {target}")

    def project(result, operand, name):
        body.append(f"{result} = attn.linear {operand}, %{name.replace('.', '_')}_weight, "
                    f"%{name.replace('.', '_')}_bias : {hidden}, {types[name + '.weight']}, {types[name + '.bias']} "
                    f"-> {hidden}")

    def add_and_norm(result, part, x, number):
        body.extend([f"{result}_sum = arith.addf {part}, {x} : {hidden}",
                     f"{result} = attn.layer_norm {result}_sum, %norm_{number}_weight, %norm_{number}_bias "
                     f"epsilon(1.0e-5) : {hidden}, {types[f'norm_{number}.weight']}, {types[f'norm_{number}.bias']}"])

    def attend(result, x, memory, name, causal):
        p = f"%{name}_"
        for part, operand in [("q", x), ("k", memory), ("v", memory)]:
            project(f"{p}{part}", operand, f"{name}.{ {'q': 'query', 'k': 'key', 'v': 'value'}[part] }")
            body.append(f"{p}{part}h = attn.split_heads {p}{part} heads({heads}) : {hidden} -> {split}")
        body.extend([f"{p}s = attn.matmul {p}qh, {p}kh transpose_rhs : ({split}, {split}) -> {scores}",
                     f"{p}t = attn.scale {p}s by {(width // heads) ** -0.5!r} : {scores}"])
        last = f"{p}t"
        if causal:
            body.extend([f"{p}m = attn.mask {p}t keep {{",
                         "^bb0(%b: index, %h: index, %i: index, %j: index, %queries: index, %keys: index):",
                         "%keep = attn.causal %i, %j",
                         "attn.yield %keep : i1",
                         f"}} : {scores}"])
            last = f"{p}m"
        body.extend([f"{p}w = attn.softmax {last} : {scores}",
                     f"{p}a = attn.matmul {p}w, {p}vh : ({scores}, {split}) -> {split}",
                     f"{p}c = attn.merge_heads {p}a : {split} -> {hidden}"])
        project(result, f"{p}c", f"{name}.output")

    attend("%attended", "%x", "%x", "self", work.group == "decoder")
    add_and_norm("%x1", "%attended", "%x", 0)
    last = "%x1"
    if work.group == "decoder":
        attend("%recalled", "%x1", "%memory", "cross", False)
        add_and_norm("%x2", "%recalled", "%x1", 1)
        last = "%x2"
    linear("%wide", last, "widen", hidden, wide)
    body.append(f"%active = attn.relu %wide : {wide}")
    linear("%narrow", "%active", "narrow", wide, hidden)
    add_and_norm("%y", "%narrow", last, 2 if work.group == "decoder" else 1)
    inputs = ["x"] + ["memory"] * (work.group == "decoder")
    return function([f'%{name}: {hidden} {{attn.name = "{name}", attn.shape = {names}}}' for name in inputs],
                    [f'{hidden} {{attn.name = "y", attn.shape = {names}}}'], body, ["%y"], [hidden])


def function(arguments, results, body, returned, types):
    lines = ['module @work attributes {heed.params = "work.safetensors"} {' if any("attn.param" in line for line in body)
             else "module @work {",
             f"func.func @work({', '.join(arguments)})", f"    -> ({', '.join(results)}) {{"]
    lines += [f"  {line}" for line in body] + [f"  return {', '.join(returned)} : {', '.join(types)}", "}", "}"]
    return "\n".join(lines) + "\n"


def text(work, static):
    return {"gemm": gemm, "rows": gemm, "sdpa": attention, "encoder": layer, "decoder": layer}[work.group](work, static)
