# SPDX-License-Identifier: Apache-2.0
"""Python's side of `strata record`: runs while torch is being imported, in a namespace of its own.

Lets the recorder compare the frames that it reads with those that Python tells, and ends the recording when the
interpreter begins to finalize, so that what lives at the end is seen alive.
"""
import atexit
import ctypes
import os
import sys

agent = ctypes.CDLL(os.environ["STRATA_RECORD_AGENT"])


def check_frames():
    """All in one function: the innermost frame is this one, in the line of the call."""
    expected, frame = [], sys._getframe()
    line = frame.f_lineno + 6
    while frame is not None:
        code = frame.f_code
        expected.append(f"{code.co_filename}\t{code.co_name}\t{line or frame.f_lineno}\n")
        frame, line = frame.f_back, None
    text = "".join(expected).encode("utf-8", "surrogatepass")
    agent.strata_capture_check_python(text)


def before(name):
    """What ends or replaces the process at once ends the recording too."""
    original = getattr(os, name)

    def call(*arguments):
        agent.strata_capture_stop()
        return original(*arguments)
    setattr(os, name, call)


if os.environ.get("STRATA_RECORD_STACKS", "auto") in ("auto", "python"):
    check_frames()
atexit.register(agent.strata_capture_stop)
for name in ("_exit", "execv", "execve"):
    before(name)
