# SPDX-License-Identifier: GPL-3.0-or-later
"""strata timeline against HolisticTraceAnalysis 0.5.0, on traces that both read: by hand, in an environment that has it.

usage: HTA_PYTHON compare_hta.py STRATA TRACE...        # HTA_PYTHON: with HolisticTraceAnalysis==0.5.0 and pandas below 3
"""
import json
import logging
import math
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
from hta.trace_analysis import TraceAnalysis  # noqa: E402

BAR = 0.01


def theirs(path):
    """By what is compared, nanoseconds."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, folder)
        analysis = TraceAnalysis(trace_files={0: copy}, trace_dir=folder, include_last_profiler_step=True)
        [times] = analysis.get_temporal_breakdown(visualize=False).to_dict("records")
        [overlap] = analysis.get_comm_comp_overlap(visualize=False).to_dict("records")
        waits, _ = analysis.get_idle_time_breakdown(ranks=[0], visualize=False)
        found = {"span": times["kernel_time(us)"] * 1e3, "idle": times["idle_time(us)"] * 1e3, "computation": times["compute_time(us)"] * 1e3,
                 "overlap share": overlap["comp_comm_overlap_pctg"] / 100}
        for row in waits.to_dict("records"):
            found[f"stream {row['stream']} {row['idle_category']}"] = row["idle_time"] * 1e3
        return found


def ours(strata, path):
    run = subprocess.run([strata, "timeline", path, "--json", "--limit", "1"], capture_output=True, text=True, check=True)
    [device] = json.loads(run.stdout)["ranks"][0]["devices"]
    communication = device["communication_ns"]
    found = {"span": device["span_ns"], "idle": device["idle_ns"], "computation": device["computation_ns"],
             "overlap share": device["communication_under_computation_ns"] / communication if communication else math.nan}
    for stream in device["streams"]:
        for category in ("host_wait", "kernel_wait", "other"):
            found[f"stream {stream['stream']} {category}"] = stream[f"{category}_ns"]
    return found


def main(strata, *paths):
    worst = 0.0
    for path in paths:
        wanted, got = theirs(path), ours(strata, path)
        off = 0.0
        for what, value in wanted.items():
            if math.isnan(value) and math.isnan(got[what]):
                continue
            difference = abs(got[what] - value) / max(abs(value), 1000.0 if what != "overlap share" else 1.0)  # they round to a microsecond
            off = max(off, difference)
            if difference > BAR:
                print(f"{os.path.basename(path)}: {what}: {got[what]:.0f}, HTA {value:.0f}")
        print(f"{os.path.basename(path)}: {len(wanted)} figures, off by {100 * off:.3f} % at most", flush=True)
        worst = max(worst, off)
    return 0 if worst <= BAR else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
