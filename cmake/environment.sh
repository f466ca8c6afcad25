# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by ./run and ./test: lets the compiler cache serve every checkout of the project on this machine.
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
export CCACHE_MAXSIZE=10G CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

# quietly WHAT COMMAND...: runs it, shows its output only if it fails.
quietly() {
  local what=$1 log
  shift
  log=$(mktemp)
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    echo "strata: $what failed: the output is above" >&2
    exit 1
  fi
  rm -f "$log"
}
