#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes an environment with what people train with besides PyTorch (transformers, diffusers, torchvision, Triton), which takes
# PyTorch itself from an environment of environment.sh. About 0.5 GB to load; what is there already costs nothing. Prints the path
# of its Python; says on stderr why not, and fails then.
#
# usage: extras.sh PYTHON     (one of those that environment.sh printed, of the newest PyTorch)
set -uo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/strata
asked="-q --disable-pip-version-check --default-timeout 20 --retries 1"
home=$(dirname "$(dirname "$1")")
packages=$(compgen -G "$home/lib/python3*/site-packages")
folder=$cache/extras-${home##*torch-}

say() { echo "strata: $*" >&2; }

# shellcheck disable=SC2086
make() {
  rm -rf "$folder"
  local python=$folder/bin/python triton
  "$1" -m venv "$folder" || return 1
  echo "$packages" >"$(compgen -G "$folder/lib/python3*/site-packages")/torch.pth"
  triton=$(sed -nE 's/^Requires-Dist: (triton[^; ]*).*/\1/p' "$packages"/torch-*.dist-info/METADATA | head -1)
  timeout 900 "$python" -m pip install $asked transformers diffusers accelerate pillow &&
    timeout 900 "$python" -m pip install $asked --no-deps torchvision "$triton" &&
    touch "$folder/ready"
}

mkdir -p "$cache" || exit 1
exec 9>"$cache/extras.lock"
flock -w 1800 9 || { say "$cache: another run is still making an environment"; exit 1; }
if [ ! -e "$folder/ready" ]; then
  say "loading transformers, diffusers, torchvision and Triton into $folder"
  log=$(make "$1" 2>&1) || { rm -rf "$folder"; say "they cannot be installed: ${log##*$'\n'}"; exit 1; }
fi
echo "$folder/bin/python"
