#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes one Python environment for each named version of PyTorch, the CUDA wheels of PyPI without NVIDIA's own (about
# 0.5 GB to load, 1.3 GB on disk), in $XDG_CACHE_HOME/strata/torch-VERSION. What is there already costs nothing. Prints the path of
# each Python that is ready; says on stderr, once, what is missing and why, and does not fail for that.
#
# usage: environment.sh VERSION...   (newest, 2.6.0, ...)
set -uo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/strata
patience=900 # seconds for one version
plain="typing_extensions sympy mpmath jinja2 markupsafe networkx filelock fsspec numpy setuptools"
asked="--disable-pip-version-check --default-timeout 20 --retries 1"

say() { echo "strata: $*" >&2; }

# The distribution's Python, if there is one: other builds may run at half the speed.
base=$(PATH=/usr/bin:$PATH command -v python3)

# pip writes the record last: an install that was cut short has none.
ready() {
  compgen -G "$1/lib/python3*/site-packages/torch-*.dist-info/RECORD" >/dev/null && grep -qx "home = $(dirname "$base")" "$1/pyvenv.cfg"
}

make() { # FOLDER VERSION
  rm -rf "$1"
  # shellcheck disable=SC2086
  "$base" -m venv "$1" && timeout "$patience" "$1/bin/python" -m pip install -q $asked $plain \
    && timeout "$patience" "$1/bin/python" -m pip install -q $asked --no-deps "torch==$2"
}

# The CUDA runtime's headers, for C++ programs: outside the environments, which stay free of NVIDIA's libraries.
headers() { # PYTHON
  local major packages
  major=$(sed -nE "s/^cuda.*'([0-9]+)\..*/\1/p" "$(dirname "$1")"/../lib/python3*/site-packages/torch/version.py)
  case $major in
    12) packages=nvidia-cuda-runtime-cu12 ;;
    13) packages="nvidia-cuda-runtime nvidia-cuda-crt" ;;
    *) return 1 ;;
  esac
  [ -d "$cache/headers-$major" ] && return
  # shellcheck disable=SC2086
  timeout 120 "$1" -m pip install -q $asked --no-deps --target "$cache/headers-$major.partial" $packages >/dev/null 2>&1 \
    && mv "$cache/headers-$major.partial" "$cache/headers-$major"
}

# Optimizers that keep states in 8 bits, of the version of which resources/optimizers_bitsandbytes.json tells, in a folder of its own: the
# environments stay as they are. About 70 MB to load.
bitsandbytes() { # PYTHON
  local number folder
  number=$(sed -nE 's/^ "version": "([^"]+)",$/\1/p' "$(dirname "$0")/../../resources/optimizers_bitsandbytes.json")
  folder=$cache/bitsandbytes-$number
  [ -d "$folder" ] && return
  # shellcheck disable=SC2086
  timeout 300 "$1" -m pip install -q $asked --no-deps --target "$folder.partial" "bitsandbytes==$number" packaging >/dev/null 2>&1 \
    && mv "$folder.partial" "$folder"
}

# Imports of torch take a quarter less time: see tools/strata_quick_import.py.
quick_import() { # FOLDER
  local source place
  source=$(dirname "$0")/tools/strata_quick_import.py
  place=$(echo "$1"/lib/python3*/site-packages)
  cmp -s "$source" "$place/strata_quick_import.py" \
    || { cp "$source" "$place" && echo "import strata_quick_import" >"$place/strata_quick_import.pth"; }
}

newest() {
  local tool=$cache/tool
  [ -x "$tool/bin/pip" ] || python3 -m venv "$tool" || return 1
  # shellcheck disable=SC2086
  timeout 60 "$tool/bin/pip" index versions $asked torch 2>/dev/null | sed -nE '1s/^torch \(([^)]+)\)$/\1/p'
}

# The newest that is here already, for a machine without a network.
newest_here() {
  for folder in "$cache"/torch-*; do
    ready "$folder" && echo "${folder##*/torch-}"
  done | sort -V | tail -1
}

mkdir -p "$cache" || exit 0
exec 9>"$cache/environment.lock"
flock -w $((2 * patience)) 9 || { say "$cache: another run is still making environments: tests with PyTorch may be skipped"; exit 0; }
for version in "$@"; do
  if [ "$version" = newest ]; then
    version=$(newest)
    if [ -z "$version" ]; then
      version=$(newest_here)
      say "PyPI does not say which PyTorch is the newest: ${version:-none} is used"
      [ -n "$version" ] || continue
    fi
  fi
  folder=$cache/torch-$version
  if ! ready "$folder"; then
    say "loading PyTorch $version into $folder"
    if ! log=$(make "$folder" "$version" 2>&1); then
      rm -rf "$folder"
      say "PyTorch $version cannot be installed, tests with it are skipped: ${log##*$'\n'}"
      continue
    fi
  fi
  quick_import "$folder" || say "$folder: cannot write strata_quick_import.py: imports of torch take longer"
  bitsandbytes "$folder/bin/python" || say "bitsandbytes cannot be installed: its optimizers are not tested"
  headers "$folder/bin/python" || say "no headers of the CUDA runtime for PyTorch $version: C++ programs are not tested with it"
  echo "$folder/bin/python"
done
