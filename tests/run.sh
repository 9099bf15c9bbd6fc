#!/usr/bin/env bash
# Sets up, builds and runs the tests. The last lines are ctest's summary.
# Usage: tests/run.sh              all tests, after the fast subset under the sanitizers
#        tests/run.sh --fast       the fast subset, for daily work
#        tests/run.sh --sanitize   all tests under the address and undefined-behaviour sanitizers
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sanitized() {
  cmake --preset sanitize -Wno-dev --log-level=WARNING >/dev/null && cmake --build --preset sanitize && ctest --preset "$1"
}

status=0
case "${1:-}" in
  "")
    tests/setup.sh
    sanitized sanitize-fast || status=1
    ctest --preset release || status=1
    ;;
  --fast)
    tests/setup.sh
    ctest --preset fast || status=1
    ;;
  --sanitize)
    tests/setup.sh
    sanitized sanitize || status=1
    ;;
  *)
    sed -n '2,5s/^# //p' "$0" >&2
    exit 2
    ;;
esac
exit $status
