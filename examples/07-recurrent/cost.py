"""Measures both entries of recurrent.so in the current folder at growing lengths and prints a table."""

import json
import subprocess


def milliseconds(entry, length):
    report = subprocess.run(["heed", "bench", "recurrent.so", "--entry", entry, "--size", f"length={length}",
                             "--seconds", "0.05", "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(report)["median_seconds"] * 1e3


print(f"{'length':>6} {'lstm':>10} {'attention':>10}   {'lstm':>8} {'attention':>9}")
print(f"{'':6} {'ms':>10} {'ms':>10}   {'µs/position':>18}")
for length in (16, 64, 256, 1024, 4096):
    lstm, attention = milliseconds("lstm", length), milliseconds("attention", length)
    print(f"{length:6} {lstm:10.3f} {attention:10.3f}   {lstm / length * 1e3:8.2f} {attention / length * 1e3:9.2f}")
