"""The works as heed's users write them: graphs in the attn dialect.

The dynamic form leaves the sizes open that differ from call to call in use: rows, batch, lengths. The static form
states them all, for those who know them.
"""

def size(value, static):
    return str(value) if static else "?"


def keep(rule):
    return f"""keep {{
  ^bb0(%b: index, %h: index, %i: index, %j: index, %queries: index, %keys: index):
    %keep = {rule}
    attn.yield %keep : i1
  }}"""


def keep_documents(ids):
    """Causal within documents; %documents, of type `ids`, has one of each position."""
    return f"""reads(%documents, %documents : {ids}, {ids})
    maps [affine_map<(b, h, q, k) -> (q)>, affine_map<(b, h, q, k) -> (k)>] keep {{
  ^bb0(%b: index, %h: index, %i: index, %j: index, %queries: index, %keys: index, %own: i32, %other: i32):
    %same = attn.same_document %own, %other : i32
    %causal = attn.causal %i, %j
    %keep = arith.andi %same, %causal : i1
    attn.yield %keep : i1
  }}"""


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
    if work.mask == "documents":
        ids = f"tensor<{q}xi32>"
        arguments.append(f'%documents: {ids} {{attn.name = "documents", attn.shape = [{names[1]}]}}')
    region = {"": "", "causal": keep("attn.causal %i, %j"),
              "documents": keep_documents(f"tensor<{q}xi32>"),
              "window": keep(f"attn.window %i, %j before({work.window - 1}) after(0)")}[work.mask]
    if work.heads != work.kv_heads:
        body = [f'%y = attn.attention %q, %k, %v scale({work.scale!r}) layout("bhqd,bhkd,bhke->bhqe")',
                f"{region} : {query}, {key}, {key} -> {query}"]
    else:
        body = [f"%scores = attn.matmul %q, %k transpose_rhs : ({query}, {key}) -> {scores}",
                f"%scaled = attn.scale %scores by {work.scale!r} : {scores}"]
        last = "%scaled"
        if work.mask:
            body.append(f"%masked = attn.mask %scaled {region} : {scores}")
            last = "%masked"
        body += [f"%weights = attn.softmax {last} : {scores}",
                 f"%y = attn.matmul %weights, %v : ({scores}, {key}) -> {query}"]
    return function(arguments, results, body, ["%y"], [query])


class Layer:
    """An encoder or decoder layer (Vaswani et al. 2017, figure 1): each part is added to its input and normalized."""

    def __init__(self, work, static):
        b, s = size(work.batch, static), size(work.seq, static)
        width, inner, self.heads = (work.sizes[name] for name in ("width", "inner", "heads"))
        self.d, self.epsilon = width // self.heads, work.sizes["epsilon"]
        self.hidden, self.wide = f"tensor<{b}x{s}x{width}xf32>", f"tensor<{b}x{s}x{inner}xf32>"
        self.split, self.scores = f"tensor<{b}x{self.heads}x{s}x{self.d}xf32>", f"tensor<{b}x{self.heads}x{s}x{s}xf32>"
        self.types = {name: f"tensor<{'x'.join(map(str, array.shape))}xf32>" for name, array in work.weights().items()}
        self.body = [f'{self.param(name)} = attn.param "{name}" : {type}' for name, type in self.types.items()]
        decoder = work.group == "decoder"
        last = self.attend("%x", "%x", "self", decoder)
        if decoder:
            last = self.attend(last, "%memory", "cross", False)
        wide = self.linear(last, "widen", self.hidden, self.wide)
        self.body.append(f"%active = attn.relu {wide} : {self.wide}")
        last = self.add_and_norm(self.linear("%active", "narrow", self.wide, self.hidden), last, "inner")
        shape = f"[{work.batch}, {work.seq}, {width}]" if static else f'["batch", "seq", {width}]'
        self.text = function(
            [f'%{name}: {self.hidden} {{attn.name = "{name}", attn.shape = {shape}}}' for name in work.inputs()],
            [f'{self.hidden} {{attn.name = "y", attn.shape = {shape}}}'], self.body, [last], [self.hidden])

    @staticmethod
    def param(name):
        return "%w" + name.replace(".", "_")

    def linear(self, x, name, source, target):
        result, w, b = f"%{name.replace('.', '_')}", f"0.{name}.weight", f"0.{name}.bias"
        self.body.append(f"{result} = attn.linear {x}, {self.param(w)}, {self.param(b)} : {source}, {self.types[w]}, "
                         f"{self.types[b]} -> {target}")
        return result

    def add_and_norm(self, part, x, name):
        w, b = f"0.{name}.norm.weight", f"0.{name}.norm.bias"
        self.body += [f"%{name}_sum = arith.addf {part}, {x} : {self.hidden}",
                      f"%{name}_norm = attn.layer_norm %{name}_sum, {self.param(w)}, {self.param(b)} "
                      f"epsilon({self.epsilon:.1e}) : {self.hidden}, {self.types[w]}, {self.types[b]}"]
        return f"%{name}_norm"

    def attend(self, x, memory, name, causal):
        p, parts = f"%{name}_", {"query": x, "key": memory, "value": memory}
        for part, operand in parts.items():
            whole = self.linear(operand, f"{name}.{part}", self.hidden, self.hidden)
            self.body.append(f"{p}{part}_heads = attn.split_heads {whole} heads({self.heads}) "
                             f": {self.hidden} -> {self.split}")
        self.body += [f"{p}scores = attn.matmul {p}query_heads, {p}key_heads transpose_rhs "
                      f": ({self.split}, {self.split}) -> {self.scores}",
                      f"{p}scaled = attn.scale {p}scores by {self.d ** -0.5!r} : {self.scores}"]
        last = f"{p}scaled"
        if causal:
            self.body += [f"{p}masked = attn.mask {last} {keep('attn.causal %i, %j')} : {self.scores}"]
            last = f"{p}masked"
        self.body += [f"{p}weights = attn.softmax {last} : {self.scores}",
                      f"{p}attended = attn.matmul {p}weights, {p}value_heads : ({self.scores}, {self.split}) "
                      f"-> {self.split}",
                      f"{p}merged = attn.merge_heads {p}attended : {self.split} -> {self.hidden}"]
        return self.add_and_norm(self.linear(f"{p}merged", f"{name}.output", self.hidden, self.hidden), x, name)


def function(arguments, results, body, returned, types):
    lines = ['module @work attributes {heed.params = "work.safetensors"} {' if any("attn.param" in line for line in body)
             else "module @work {",
             f"func.func @work({', '.join(arguments)})", f"    -> ({', '.join(results)}) {{"]
    lines += [f"  {line}" for line in body] + [f"  return {', '.join(returned)} : {', '.join(types)}", "}", "}"]
    return "\n".join(lines) + "\n"


def text(work, static):
    if work.group in ("encoder", "decoder"):
        return Layer(work, static).text
    return (attention if work.group == "sdpa" else gemm)(work, static)
