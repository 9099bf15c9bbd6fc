"""Draws a run: curves of attention's time against the length, and bars of every work's share of its limit."""

import math
import re
from html import escape

COLORS = {"heed": "#c4314b", "heed.static": "#e58a9a", "heed.unfused": "#f2c4cc", "onnxruntime": "#2f6db3",
          "openvino": "#3f9a6c", "torch": "#e08a1e", "torch.compile": "#b5651d", "openblas": "#7a5ea8"}
FONT = 'font-family="sans-serif" font-size="12"'


class Svg:
    def __init__(self, width, height):
        self.width, self.height, self.parts = width, height, []

    def line(self, points, color="#ccc", width=1.0):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}"/>')

    def bar(self, x, y, width, height, color):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"/>')

    def text(self, x, y, words, anchor="start", turn=0, color="#222"):
        turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}" {FONT}{turned}>'
                          f"{escape(words)}</text>")

    def legend(self, peers, x, y):
        for peer in peers:
            self.bar(x, y - 9, 10, 10, COLORS[peer])
            self.text(x + 14, y, peer)
            x += 34 + 7 * len(peer)

    def write(self, path):
        path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}">'
                        f'<rect width="{self.width}" height="{self.height}" fill="white"/>{"".join(self.parts)}</svg>\n')


def draw_curves(rows, title, path):
    """Three panels, dense, causal and window; both axes are logarithmic."""
    kinds = {"dense": r"sdpa s(\d+)$", "causal": r"sdpa s(\d+)_causal$", "window of 256": r"sdpa s(\d+)_window256$"}
    curves = {}
    for row in rows:
        for kind, pattern in kinds.items():
            if match := re.match(pattern, row["work"]):
                curves.setdefault((kind, row["peer"]), []).append((int(match[1]), 1e3 * row["median_s"]))
    points = [point for curve in curves.values() for point in curve]
    peers = [peer for peer in COLORS if any(peer == name for _, name in curves)]
    if len({length for length, _ in points}) < 2:
        return
    lengths = sorted({length for length, _ in points})
    low, high = (edge(math.log10(f(time for _, time in points))) for f, edge in ((min, math.floor), (max, math.ceil)))
    panel, height, top = 280, 300, 60
    svg = Svg(60 + 3 * (panel + 20), top + height + 50)
    svg.text(60, 20, title)
    svg.legend(peers, 60, 40)

    def place(index, length, time):
        across = (math.log2(length) - math.log2(lengths[0])) / (math.log2(lengths[-1]) - math.log2(lengths[0]))
        return (60 + index * (panel + 20) + 10 + across * (panel - 20),
                top + height * (1 - (math.log10(time) - low) / (high - low)))

    for index, kind in enumerate(kinds):
        left = 60 + index * (panel + 20)
        for power in range(low, high + 1):
            y = place(index, lengths[0], 10.0 ** power)[1]
            svg.line([(left, y), (left + panel, y)])
            if index == 0:
                svg.text(left - 6, y + 4, f"{10.0 ** power:g} ms", "end")
        for length in lengths:
            svg.text(place(index, length, 1)[0], top + height + 16, str(length), "middle")
        svg.text(left + panel / 2, top + height + 36, f"{kind}, by length", "middle")
        for peer in peers:
            if (kind, peer) in curves:
                svg.line([place(index, *point) for point in sorted(curves[kind, peer])], COLORS[peer],
                         2.5 if peer == "heed" else 1.5)
    svg.write(path)


def draw_bars(rows, title, path):
    """Percent of the limit, a group of bars for each work."""
    works = list(dict.fromkeys(row["work"] for row in rows))
    peers = [peer for peer in COLORS if any(row["peer"] == peer for row in rows)]
    shares = {(row["work"], row["peer"]): row["percent_of_limit"] for row in rows}
    most = max(100, math.ceil(max(shares.values()) / 20) * 20)
    thick, height, top = 7, 260, 60
    group = thick * len(peers) + 10
    svg = Svg(max(60 + group * len(works) + 20, 620), top + height + 150)
    svg.text(60, 20, title)
    svg.legend(peers, 60, 40)
    for percent in range(0, most + 1, 20):
        y = top + height * (1 - percent / most)
        svg.line([(60, y), (60 + group * len(works), y)], "#888" if percent == 100 else "#ccc")
        svg.text(54, y + 4, f"{percent} %", "end")
    for i, work in enumerate(works):
        left = 60 + i * group + 5
        for j, peer in enumerate(peers):
            if (work, peer) in shares:
                share = height * shares[work, peer] / most
                svg.bar(left + j * thick, top + height - share, thick - 1, share, COLORS[peer])
        svg.text(left + group / 2, top + height + 14, work.split(" ", 1)[1], "end", -50)
    svg.write(path)


def draw(rows, folder):
    folder.mkdir(parents=True, exist_ok=True)
    machine = next((row["machine"] for row in rows if "machine" in row), "")
    measured = [row for row in rows if "percent_of_limit" in row]
    for threads in sorted({row["threads"] for row in measured}):
        here = [row for row in measured if row["threads"] == threads]
        on = f"{machine}, {threads} thread{'s' * (threads > 1)}"
        draw_curves(here, f"Attention, 8 heads of width 64, f32, time of a call; {on}", folder / f"attention-{threads}.svg")
        for name in dict.fromkeys(row["work"].split()[0] for row in here):
            group = [row for row in here if row["work"].split()[0] == name]
            draw_bars(group, f"{name}, percent of the machine's limit; {on}", folder / f"{name}-{threads}.svg")
    print(f"Figures are in {folder}")
