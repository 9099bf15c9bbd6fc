# What every lesson starts with, sourced by its run.sh: heed in the path, the Python of .venv, a scratch folder that is
# gone at the end, and the lesson's own folder to work in.
set -euo pipefail
lesson=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
root=$(cd "$lesson/../.." && pwd)
build=${HEED_BUILD:-$root/build/release}
export PATH=$build/bin:/usr/lib/llvm-22/bin:$PATH
export PYTHONPATH=$root/examples PYTHONDONTWRITEBYTECODE=1
python=$root/.venv/bin/python
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$lesson"
