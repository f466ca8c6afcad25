# SPDX-License-Identifier: GPL-3.0-or-later
"""To be imported before torch: adds DEVICE_OPTIONS of the environment ("event-lag=2;addresses=random:7") to those of the simulated
device, which reads them once, while torch is being loaded."""
import os
import sys

if _options := os.environ.get("DEVICE_OPTIONS"):
    if "torch" in sys.modules:
        sys.exit("DEVICE_OPTIONS come too late: torch is there already")
    os.environ["STRATA_SIMGPU"] += ";" + _options
    del os.environ["DEVICE_OPTIONS"]
