#!/usr/bin/env bash
# Makes a bare Debian 12 ready for heed and builds it: Debian packages, a Python environment in .venv, and the
# release preset in build/release. Needs root or sudo only where packages are missing; safe to run again.
# Usage: tests/setup.sh [TARGET...]   (what to build; everything by default)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(
  # LLVM and MLIR 22.1: libraries, tools and the compiler we build with
  clang-22 clang-format-22 clang-tidy-22 libclang-rt-22-dev libmlir-22-dev lld-22 llvm-22-dev llvm-22-tools
  mlir-22-tools
  # build
  ca-certificates ccache cmake git ninja-build
  libbenchmark-dev libcli11-dev libfmt-dev libgtest-dev libpthreadpool-dev nlohmann-json3-dev
  # examples and tests: Python, C and AArch64 programs
  gcc libc6-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross python3-venv qemu-user
)

die() {
  echo "heed: error: setup: $*" >&2
  exit 1
}

root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo --preserve-env=DEBIAN_FRONTEND "$@"
  else
    die "expected root or sudo to install packages, but got user $(id -un) without sudo"
  fi
}

# Those of the packages that are not installed.
missing() {
  dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null |
    awk '$2 == "installed" { print $1 }' | sort -u | comm -13 - <(printf '%s\n' "${packages[@]}" | sort -u)
}

install_packages() {
  local wanted offered
  command -v apt-get >/dev/null || die "expected Debian 12 with apt-get, but there is none"
  mapfile -t wanted < <(missing)
  [ ${#wanted[@]} = 0 ] && return
  echo "setup: installing ${wanted[*]}"
  export DEBIAN_FRONTEND=noninteractive
  root apt-get update -q || echo "setup: apt-get update failed; going on with the package lists at hand" >&2
  offered=$(apt-cache policy "${wanted[@]}" | awk '/^[^ ]/ { name = $1 } /Candidate: [^(]/ { print name }')
  for package in "${wanted[@]}"; do
    grep -qxF "$package:" <<<"$offered" ||
      die "expected apt to offer $package (Debian 12 with security updates), but it does not"
  done
  root apt-get install -q -y --no-install-recommends "${wanted[@]}" || die "apt-get install failed"
}

# The environment is made anew when its list of packages changes.
make_venv() {
  local stamp=.venv/heed-requirements.txt
  cmp -s tests/requirements.txt "$stamp" && return
  echo "setup: making the Python environment .venv"
  rm -rf .venv
  /usr/bin/python3 -m venv .venv
  .venv/bin/pip install -q --disable-pip-version-check -r tests/requirements.txt || die "pip install failed"
  cp tests/requirements.txt "$stamp"
}

install_packages
make_venv
cmake --preset release -Wno-dev --log-level=WARNING >/dev/null
cmake --build --preset release --target "${@:-all}"
