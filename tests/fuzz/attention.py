"""Makes attention graphs at random and compares their compiled code with the interpreter.

attention.py FIRST [COUNT]   graphs of the seeds from FIRST on, COUNT of them or without end; prints each that fails
attention.py --print SEED    the graph of one seed, and its schedule

Every graph is legal: what heed refuses is a failure too. Every other one is tiled first, by a transform script.
"""
import concurrent.futures
import itertools
import os
import pathlib
import random
import subprocess
import sys
import tempfile


class Graph:
    """One attention, fused or in steps, of random sizes, layouts, types, scores and masks."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        choose, chance = self.random.choice, self.chance
        self.element = choose(["f32", "f32", "f16", "bf16"])
        self.in_steps = chance(0.3)
        self.batches, self.queries, self.keys = self.size("b", 1, 3), self.size("q", 1, 40), self.size("k", 1, 150)
        self.key_heads = choose([1, 1, 2])
        self.heads = self.key_heads * (1 if self.in_steps else choose([1, 1, 2, 3]))
        self.depth, self.width = choose([1, 8, 16, 20]), choose([1, 8, 16, 33])
        self.arguments, self.reads, self.offsets, self.sums, self.layer = [], [], False, False, ""
        self.layers = random.Random(f"layer {seed}")

    def chance(self, probability):
        return self.random.random() < probability

    def size(self, name, low, high):
        return f'"{name}"' if self.chance(0.6) else self.random.choice([low, self.random.randint(low, high)])

    def argument(self, name, sizes, element, extra=""):
        """Adds an argument of the function and returns its type."""
        shape, type_ = ", ".join(map(str, sizes)), self.type_of(sizes, element)
        self.arguments.append(f"%{name}: {type_} {{attn.shape = [{shape}]{extra}}}")
        return type_

    def read(self, letters, element, extra=""):
        """Adds a tensor that the regions read at (b, h, q, k)[letters]; returns its name in the regions."""
        sizes = {"b": self.batches, "h": self.heads, "q": self.queries, "k": self.keys}
        name = f"r{len(self.reads)}"
        type_ = self.argument(name, [sizes[letter] for letter in letters], element, extra)
        self.reads.append((name, type_, letters, element))
        return "of_" + name

    def prefix(self, body):
        """An index below which keys are kept: a constant, a length of the region, or one per batch entry."""
        kind = self.random.choice(["constant", "length", "batch"])
        if kind == "length":
            return "%kl"
        if kind == "constant":
            return self.define(body, f"arith.constant {self.random.randint(0, 70)} : index")
        length = self.read("b", "i32", f", attn.range = [0, {self.keys}]")
        return self.define(body, f"arith.index_cast %{length} : i32 to index")

    def define(self, body, operation):
        name = f"%v{len(body)}"
        body.append(f"      {name} = {operation}")
        return name

    def keep(self, body, depth=0):
        """A condition on the pair (%i, %j)."""
        integer = self.random.randint
        if depth < 3 and self.chance(0.5):
            kind = self.random.choice(["andi", "andi", "ori", "xori"])
            left, right = self.keep(body, depth + 1), self.keep(body, depth + 1)
            return self.define(body, f"arith.{kind} {left}, {right} : i1")
        kinds = ["causal", "bottom_right", "window", "prefix", "chunk", "dilated", "compare", "not"]
        if not self.offsets:
            kinds += ["document", "tensor"]
        kind = self.random.choice(kinds)
        if kind == "bottom_right" and self.offsets:
            kind = "causal"
        if kind == "not":
            true = self.define(body, "arith.constant true")
            return self.define(body, f"arith.xori {self.keep(body, depth + 1)}, {true} : i1")
        if kind == "document":
            query, key = self.read("bq", "i32"), self.read("bk", "i32")
            return self.define(body, f"attn.same_document %{query}, %{key} : i32")
        if kind == "tensor":
            return "%" + self.read(self.random.choice(["bk", "k", "qk", "hqk", "bhqk"]), "i1")
        if kind == "compare":
            shift = self.define(body, f"arith.constant {integer(-20, 40)} : index")
            sum_ = self.define(body, f"arith.addi %i, {shift} : index")
            return self.define(body, f"arith.cmpi {self.random.choice(['slt', 'sle', 'sgt', 'sge'])}, %j, {sum_} : index")
        return self.define(body, {
            "causal": "attn.causal %i, %j",
            "bottom_right": "attn.causal %i, %j bottom_right(%ql, %kl)",
            "window": f"attn.window %i, %j before({integer(0, 60)}) after({integer(0, 20)})",
            "prefix": f"attn.prefix %j, {self.prefix(body) if kind == 'prefix' else ''}",
            "chunk": f"attn.chunk %i, %j width({integer(1, 50)})",
            "dilated": f"attn.dilated %i, %j step({integer(1, 4)})",
        }[kind])

    def score(self, body):
        """A change of the score %s."""
        score = "%s"
        for _ in range(self.random.randint(1, 2)):
            kind = self.random.choice(["softcap", "bias", "alibi"] if not self.offsets else ["softcap"])
            if kind == "softcap":
                cap = self.define(body, "arith.constant 5.0 : f32")
                scaled = self.define(body, f"arith.divf {score}, {cap} : f32")
                score = self.define(body, f"arith.mulf {self.define(body, f'math.tanh {scaled} : f32')}, {cap} : f32")
            elif kind == "bias":
                bias = self.read(self.random.choice(["hqk", "bk", "qk", "bhqk"]), "f32")
                score = self.define(body, f"arith.addf {score}, %{bias} : f32")
            else:
                slope = self.read("h", "f32")
                distance = self.define(body, "arith.subi %j, %i : index")
                integer = self.define(body, f"arith.index_cast {distance} : index to i32")
                product = self.define(body, f"arith.mulf {self.define(body, f'arith.sitofp {integer} : i32 to f32')}, %{slope} : f32")
                score = self.define(body, f"arith.addf {score}, {product} : f32")
        return score

    def region(self, name, leading, body, result, result_type):
        parameters = leading + [f"%{index}: index" for index in ("b", "h", "i", "j", "ql", "kl")]
        parameters += [f"%of_{read}: {element}" for read, _, _, element in self.reads]
        lines = "\n".join(body)
        return f" {name} {{\n    ^bb0({', '.join(parameters)}):\n{lines}\n      attn.yield {result} : {result_type}\n    }}"

    def regions(self, with_score):
        """The regions' text; reads are complete only when both bodies are made."""
        score_body, keep_body = [], []
        score = self.score(score_body) if with_score and self.chance(0.4) else None
        keep = self.keep(keep_body) if self.chance(0.8) or not with_score else None
        text = self.region("score", ["%s: f32"], score_body, score, "f32") if score else ""
        return text + (self.region("keep", [], keep_body, keep, "i1") if keep else "")

    def read_clause(self):
        if not self.reads:
            return ""
        names = ", ".join("%" + name for name, _, _, _ in self.reads)
        types = ", ".join(type_ for _, type_, _, _ in self.reads)
        maps = ", ".join(f"affine_map<(b, h, q, k) -> ({', '.join(letters)})>" for _, _, letters, _ in self.reads)
        return f" reads({names} : {types}) maps [{maps}]"

    def print(self):
        return self.print_steps() if self.in_steps else self.print_fused()

    def type_of(self, sizes, element):
        return "tensor<" + "".join(("?" if isinstance(size, str) else str(size)) + "x" for size in sizes) + element + ">"

    def print_fused(self):
        sizes = {"b": self.batches, "q": self.queries, "k": self.keys, "d": self.depth, "e": self.width}
        orders = []
        for letters, name, heads in (("bhqd", "q", self.heads), ("bhkd", "k", self.key_heads), ("bhke", "v", self.key_heads)):
            order = self.random.choice([letters, letters[0] + letters[2] + letters[1] + letters[3],
                                        "".join(self.random.choice(list(itertools.permutations(letters))))])
            orders.append(order)
            self.argument(name, [heads if letter == "h" else sizes[letter] for letter in order], self.element)
        types = [argument.split(": ")[1].split(" {")[0] for argument in self.arguments]
        result = self.random.choice(["bhqe", "bqhe", "bhqe"])
        options = f' scale({self.random.choice([0.125, 0.3, 1.0, 2.5, -0.5])}) layout("{",".join(orders)}->{result}")'
        if self.chance(0.3):
            high = self.keys
            type_ = self.argument("n", [self.batches], "i64", f", attn.range = [0, {high}]")
            options += f" key_lengths(%n : {type_})"
        if self.chance(0.3):
            self.offsets = True
            type_ = self.argument("o", [self.batches], "i32", ", attn.range = [0, 40]")
            options += f" query_offset(%o : {type_})"
        if self.chance(0.2):
            options += f" sinks(%s0 : {self.argument('s0', [self.heads], self.element)})"
        if self.chance(0.2):
            options += " empty_rows(nan)"
        regions = self.regions(with_score=True)
        extents = [self.heads if letter == "h" else sizes[letter] for letter in result]
        results = [self.type_of(extents, self.element)]
        if self.chance(0.3):
            self.sums = True
            results.append(self.type_of([extent for extent, letter in zip(extents, result) if letter != "e"], "f32"))
        names, returned, layer = ["%0", "%1"][:len(results)], results, ""
        returns = names
        if self.layers.random() < 0.4:
            self.layer = result
            layer, type_ = self.print_layer(extents, results[0])
            returns, returned = ["%y"] + names[1:], [type_] + results[1:]
        return (f"func.func @f({', '.join(self.arguments)}) -> ({', '.join(returned)}) {{\n"
                f"  {', '.join(names)} = attn.attention %q, %k, %v{options}{self.read_clause()}{regions}\n"
                f"    : {', '.join(types)} -> {', '.join(results)}\n{layer}"
                f"  return {', '.join(returns)} : {', '.join(returned)}\n}}\n")

    def print_layer(self, extents, type_):
        """A linear layer of the attention's result, with a residual by chance; and the type of what it gives."""
        features = self.layers.choice([1, 16, 21, 40])
        extents = extents[:-1] + [features]
        weight, bias = self.argument("w", [features, self.width], self.element), self.argument("c", [features], self.element)
        result, clause = self.type_of(extents, self.element), ""
        if self.layers.random() < 0.5:
            residual = self.argument("x", extents, "f32")
            clause = (f" reads(%x : {residual}) maps [affine_map<(i, j, k, l) -> (i, j, k, l)>] epilogue(%sum, %read) {{\n"
                      "    %joined = arith.addf %sum, %read : f32\n    attn.yield %joined : f32\n  }")
        return f"  %y = attn.linear %0, %w, %c{clause} : {type_}, {weight}, {bias} -> {result}\n", result

    def print_steps(self):
        query, key, value = (self.argument(name, sizes, self.element) for name, sizes in (
            ("q", [self.batches, self.heads, self.queries, self.depth]), ("k", [self.batches, self.heads, self.keys, self.depth]),
            ("v", [self.batches, self.heads, self.keys, self.width])))
        scores = self.type_of([self.batches, self.heads, self.queries, self.keys], self.element)
        result = self.type_of([self.batches, self.heads, self.queries, self.width], self.element)
        lines, last = [f"  %s0 = attn.matmul %q, %k transpose_rhs : ({query}, {key}) -> {scores}"], "%s0"
        for step in range(self.random.randint(1, 4)):
            kind = self.random.choice(["scale", "softcap", "mask", "bias", "alibi"])
            name = f"%t{step}"
            if kind == "scale":
                lines.append(f"  {name} = attn.scale {last} by {self.random.choice([0.25, 0.4, -0.5])} : {scores}")
            elif kind == "softcap":
                lines.append(f"  {name} = attn.softcap {last} by 5.0 : {scores}")
            elif kind == "bias":
                ones = [1 if self.chance(0.4) else size for size in (self.batches, self.heads, self.queries, self.keys)]
                bias = self.argument(f"bias{step}", ones, self.element)
                lines.append(f"  {name} = attn.bias {last}, %bias{step} : {scores}, {bias}")
            elif kind == "alibi":
                slopes = self.argument(f"slopes{step}", [self.heads], self.element)
                lines.append(f"  {name} = attn.alibi {last}, %slopes{step} : {scores}, {slopes}")
            else:
                self.reads = []
                region = self.regions(with_score=False)
                clause = self.read_clause()
                for read in range(len(self.reads)):  # each mask has reads of its own
                    old, new = f"%r{read}", f"%m{step}r{read}"
                    clause = clause.replace(old, new)
                    self.arguments = [argument.replace(old + ":", new + ":") for argument in self.arguments]
                lines.append(f"  {name} = attn.mask {last}{clause}{region} : {scores}")
            last = name
        lines += [f"  %p = attn.softmax {last} {{attn.expect_fused}} : {scores}",
                  f"  %0 = attn.matmul %p, %v : ({scores}, {value}) -> {result}", f"  return %0 : {result}"]
        return f"func.func @f({', '.join(self.arguments)}) -> {result} {{\n" + "\n".join(lines) + "\n}\n"


def schedule(graph, seed):
    """A script that tiles the attention of the graph by legal sizes at random, or nothing."""
    choose = random.Random(f"schedule {seed}").choice
    if choose([True, False]):
        return None
    queries = choose([0, 1, 5, 16])
    batches = 1 if graph.offsets and queries else choose([0, 1, 2])
    group = graph.heads // graph.key_heads
    heads = choose([0, 1, group] if graph.heads % 2 else [0, 1, group, 2 if group in (1, 2) else 0])
    sizes = [batches, heads, queries, 0 if graph.sums else choose([0, 0, 8, 5])]
    name, verb = "attention", "tile_using_{}"
    if graph.layer and choose([True, False]):  # and with it, by chance, the attention before it
        name, verb = "linear", choose(["tile_using_{}", "fuse"])
        by_letter = dict(zip("bhq", sizes))
        sizes = [by_letter[letter] for letter in graph.layer[:-1]] + [choose([0, 7, 16])]
    kind, loops = choose([("forall", bool(any(sizes))), ("for", sum(size > 0 for size in sizes))])
    options = " {use_forall}" if verb == "fuse" and kind == "forall" else ""
    handles = ", ".join(["!transform.any_op"] * (1 + loops))
    names = ", ".join(["%tile"] + [f"%loop{number}" for number in range(loops)])
    return f"""module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%module: !transform.any_op {{transform.readonly}}) {{
    %whole = transform.structured.match ops{{["attn.{name}"]}} in %module : (!transform.any_op) -> !transform.any_op
    {names} = transform.structured.{verb.format(kind)} %whole tile_sizes {sizes}{options}
      : (!transform.any_op) -> ({handles})
    transform.yield
  }}
}}
""" if loops else None


def check(seed):
    """What heed says of the graph of this seed where it fails; nothing where it does not."""
    heed = pathlib.Path(os.environ["HEED_BUILD"]) / "bin" / "heed"
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / f"seed{seed}.mlir"
        graph = Graph(seed)
        model.write_text(graph.print())
        command = [heed, "verify", model, "--seed", str(seed), "--runs", "4", "--max-size", "70"]
        if script := schedule(graph, seed):
            path = pathlib.Path(folder) / "schedule.mlir"
            path.write_text(script)
            command.append(f"--insert=fused:attn-apply-schedule{{file={path}}}")
        run = subprocess.run(command, capture_output=True, text=True)
        return None if run.returncode == 0 else f"seed {seed}: exit code {run.returncode}\n{run.stderr.strip()}"


def main():
    if sys.argv[1:2] == ["--print"]:
        graph = Graph(int(sys.argv[2]))
        print(graph.print(), schedule(graph, int(sys.argv[2])) or "", sep="", end="")
        return
    first, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None
    seeds = iter(range(first, first + count)) if count is not None else itertools.count(first)
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(check, seed) for seed in itertools.islice(seeds, 2 * os.cpu_count())}
        while running:
            done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            running |= {pool.submit(check, seed) for seed in itertools.islice(seeds, len(done))}
            for failure in filter(None, (job.result() for job in done)):
                failures += 1
                print(failure, flush=True)
    if failures:
        sys.exit(f"{failures} graphs failed")


if __name__ == "__main__":
    main()
