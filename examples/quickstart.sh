#!/usr/bin/env bash
# The main job on a real model, from nothing: sets the machine up, builds heed, compiles all-MiniLM-L6-v2 to a shared
# library, embeds a few sentences with it and compares it with PyTorch. Safe to run again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tests/setup.sh heed
exec .venv/bin/python examples/quickstart.py
