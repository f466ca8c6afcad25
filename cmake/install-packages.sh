#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs the Debian packages that the named sets need and that are missing. Silent and quick when nothing is.
#
# usage: install-packages.sh SET...   (build, run, test)
set -euo pipefail

build="ca-certificates cmake ninja-build ccache g++ libfmt-dev libexpected-dev libboost1.81-dev libxxhash-dev zlib1g-dev libzstd-dev libdw-dev libre2-dev libncurses-dev pkg-config
 nlohmann-json3-dev libsimdjson-dev libcli11-dev qt6-base-dev qt6-base-private-dev qt6-svg-dev libqt6opengl6-dev qt6-charts-dev
 qt6-tools-dev qt6-l10n-tools
 libgl1-mesa-dev git"
run="g++ python3 python3-venv libdw1 libunwind8 fonts-dejavu-core qt6-qpa-plugins libqt6svg6"
test="libgtest-dev libgmock-dev libbenchmark-dev clang-16 clang-tidy-16 libclang-rt-16-dev llvm-16 mold xvfb xauth python3 python3-pytest python3-venv desktop-file-utils shared-mime-info"

wanted=()
for set in "$@"; do
  # shellcheck disable=SC2206
  wanted+=(${!set})
done
have=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qx "$package installed" <<<"$have" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -eq 0 ]; then as_root=(); elif command -v sudo >/dev/null; then as_root=(sudo); else
  echo "strata: these packages are missing and need root to install: apt-get install ${missing[*]}" >&2
  exit 1
fi
echo "strata: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "strata: apt-get could not install ${missing[*]}: see above, and check the network and /etc/apt/sources.list" >&2
  exit 1
fi
