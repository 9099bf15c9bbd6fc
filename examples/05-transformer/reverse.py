"""Reverses digit strings with reverse.so: encodes each, then decodes greedily, token by token, with caches.

  reverse.py MODULE.so 20267             reverses these strings
  reverse.py MODULE.so                   reverses strings that training never saw, and counts
"""

import random
import sys
import time

import numpy as np

from heed_module import Module
from strings import BEGIN, DIGIT, END, held_out, tokens

LONGEST = 10
WIDTH = 64


def reverse(module, string):
    source = np.array([tokens(string) + [END]], np.int64)
    memory = module["encode"](source_ids=source)
    decode = module["decode"]
    # Nothing reads a row of the caches before a step has written it.
    caches = {argument.name.decode(): np.full((1, LONGEST + 2, WIDTH), np.nan, np.float32)
              for argument in decode.arguments if argument.role == 1}
    token, result = BEGIN, ""
    for position in range(LONGEST + 2):
        step = decode(token_ids=np.array([[token]], np.int64), position=np.array([position], np.int64), **memory,
                      **caches)
        token = int(step["next_ids"][0, 0])
        if token < DIGIT:
            break
        result += str(token - DIGIT)
    return result


def main(path, *strings):
    module = Module(path)
    for string in strings:
        print(string, "→", reverse(module, string))
    if strings:
        return
    random.seed(2)
    unseen = set()
    while len(unseen) < 200:
        string = "".join(random.choices("0123456789", k=random.randint(1, LONGEST)))
        if held_out(string):
            unseen.add(string)
    begin, wrong = time.monotonic(), []
    for count, string in enumerate(sorted(unseen, key=lambda s: (len(s), s))):
        result = reverse(module, string)
        if count % 20 == 0:
            print(string, "→", result)
        if result != string[::-1]:
            wrong.append(f"{string} → {result}")
    seconds = time.monotonic() - begin
    print(f"{len(unseen) - len(wrong)} of {len(unseen)} held-out strings right, {seconds:.1f} s")
    if wrong:
        sys.exit("wrong: " + ", ".join(wrong))


main(*sys.argv[1:])
