#!/usr/bin/env bash
# Measures heed and its peers side by side. Sets up all it needs: heed's release build, MiniLM, and the peers in
# .venv-bench, a Python environment of several GB; a peer that cannot be installed is reported as absent.
# Usage: tests/bench/run.sh [--quick] [--only REGEX] [--threads N,…] [--peers NAMES] [--json FILE] …   (see --help)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# The environment is made anew when its list of packages changes; each peer is installed for itself.
make_venv() {
  local wanted=tests/bench/requirements.txt stamp=.venv-bench/heed-requirements.txt
  cmp -s $wanted $stamp && return
  echo "bench: making the Python environment .venv-bench"
  rm -rf .venv-bench
  /usr/bin/python3 -m venv .venv-bench
  grep -v '^#' $wanted | while read -r packages; do
    # shellcheck disable=SC2086 # a line may name several packages
    .venv-bench/bin/pip install -q --disable-pip-version-check $packages || echo "bench: absent: $packages" >&2
  done
  cp $wanted $stamp
}

case " $* " in
  *" --help "* | *" --list "*) [ -x .venv/bin/python ] || tests/setup.sh heed ;;
  *)
    tests/setup.sh heed heed-opt heed_runtime
    make_venv
    [ -f .venv/cache/minilm/model.safetensors ] || examples/quickstart.sh >/dev/null
    ;;
esac
python=.venv-bench/bin/python
[ -x $python ] || python=.venv/bin/python
exec $python tests/bench/bench.py "$@"
