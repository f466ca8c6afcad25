# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of `strata record` share: running it, and holding a session against torch's own snapshot."""
import ctypes
import itertools
import os
import pickle
import struct
import subprocess

from running import PROJECT, strata_json

CAPTURE = os.path.join(PROJECT, "capture")

EVENT_KEYS = ("action", "addr", "device_free", "size", "stream", "pool_id")
SEGMENT_KEYS = ("device", "address", "total_size", "allocated_size", "active_size", "requested_size", "stream",
                "segment_type", "segment_pool_id", "is_expandable")
BLOCK_KEYS = ("address", "size", "requested_size", "state")


def record(strata, options, command, **more):
    run = subprocess.run([strata, "record", "--overwrite", *options, "--", *command], capture_output=True, **more)
    run.stderr = run.stderr.decode(errors="replace")
    return run


def with_package(build, **variables):
    """The environment of a program that records itself by strata_capture."""
    return {**os.environ, "PYTHONPATH": os.path.join(CAPTURE, "python"),
            "STRATA_CAPTURE_LIBRARY": os.path.join(build, "lib", "strata", "libstrata_capture.so"), **variables}


def linked(build):
    """Options of cpp.compiled() for a program that is linked with the recorder."""
    library = os.path.join(build, "lib", "strata")
    return ("-I" + os.path.join(CAPTURE, "include"), "-L" + library, "-Wl,-rpath," + library, "-Wl,--no-as-needed", "-lstrata_capture")


def first_device(strata, session):
    """Of `strata summary`; None without a device, or without a session."""
    _, summary = strata_json(strata, ["summary", "--json", session])
    return summary["devices"][0] if summary and summary["devices"] else None


def as_snapshot(strata, session, folder):
    """A session as torch's own tools would read it."""
    path = os.path.join(folder, os.path.basename(session) + ".pickle")
    run = subprocess.run([strata, "convert", session, "-o", path], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr)
    with open(path, "rb") as file:
        return pickle.load(file)


class Payload:
    """Numbers and texts of a chunk, one after the other (model/wire/FORMAT.md)."""

    def __init__(self, content):
        self.content, self.place = content, 0

    def byte(self):
        self.place += 1
        return self.content[self.place - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value & (1 << 64) - 1

    def signed(self):
        value = self.varint()
        return -(value >> 1) - 1 if value & 1 else value >> 1

    def id(self):
        value = self.varint()
        return None if value == 0 else value - 1

    def text(self):
        size = self.varint()
        self.place += size
        return self.content[self.place - size:self.place].decode()


def payloads(session, wanted):
    """Of the chunks of a type in a session."""
    zstd = ctypes.CDLL("libzstd.so.1")
    with open(session, "rb") as file:
        data = file.read()
    at = 0
    while at + 32 <= len(data):
        codec, type_, stored, unpacked = struct.unpack_from("<BHII", data, at + 5)
        content, at = data[at + 32:at + 32 + stored], at + 32 + stored
        if type_ != wanted:
            continue
        if codec == 1:
            room = ctypes.create_string_buffer(unpacked)
            zstd.ZSTD_decompress(room, ctypes.c_size_t(unpacked), content, ctypes.c_size_t(stored))
            content = room.raw
        yield Payload(content)


def pairs(session, wanted):
    """What the chunks of Info (1) or Settings (11) of a session say, one after the other."""
    return [{chunk.text(): chunk.text() for _ in range(chunk.varint())} for chunk in payloads(session, wanted)]


ROLES = ("parameter", "buffer", "gradient", "optimizer_state", "input", "stepped", "stepped_unlisted")


def roles(session):
    """Rows of the chunks of Roles (17), in their order."""
    strings, rows = [], []
    for chunk in payloads(session, 2):
        chunk.varint()
        strings += [chunk.text() for _ in range(chunk.varint())]
    for chunk in payloads(session, 17):
        event = address = 0
        for _ in range(chunk.varint()):
            device, event = chunk.signed(), (event + chunk.signed()) % (1 << 64)
            kind, address = chunk.byte(), (address + chunk.signed()) % (1 << 64)
            name, part, dtype = (strings[each] if each is not None else "" for each in (chunk.id(), chunk.id(), chunk.id()))
            rows.append({"device": device, "event": event, "role": ROLES[kind], "address": address, "name": name, "part": part,
                         "dtype": dtype, "elements": chunk.varint(), "optimizer": chunk.id()})
    return rows


def python_frames(entry):
    return [(f["filename"], f["name"], f["line"]) for f in entry.get("frames", [])]


def is_of_allocator(frames):
    """Whether frames are C++ alone, from the allocator outwards."""
    libraries = [os.path.basename(file) for file, _, line in frames if line == 0]
    return (len(libraries) == len(frames) > 2 and libraries[0].startswith("libc10_cuda.so")
            and all(".so" in library or library.startswith("python") or library == "??" for library in libraries))


def compare_frames(mine, torchs, stacks):
    """The pair of frames that have to be equal. With `stacks` auto ours are C++ where torch has none, and only there."""
    ours, theirs = python_frames(mine), python_frames(torchs)
    if stacks == "auto" and not theirs:
        return ("C++ frames", ours if not is_of_allocator(ours) else "from the allocator on", "from the allocator on")
    return ("frames", ours, theirs)


def compare_events(name, got, wanted, failures, stacks=None):
    """Events of all devices, one by one: how many, and how many have stacks of C++ where torch has none. Marks of snapshots
    are left out: whoever asks for a trace does not see his own. `stacks` as they were recorded; None: not comparable."""
    events = native = 0
    for device, (ours, theirs) in enumerate(itertools.zip_longest(got["device_traces"], wanted["device_traces"],
                                                                  fillvalue=[])):
        ours = [e for e in ours if e["action"] != "snapshot"]
        theirs = [e for e in theirs if e["action"] != "snapshot"]
        failures.expect(name, f"device {device}: number of events", len(ours), len(theirs))
        different = 0
        for index, (mine, torchs) in enumerate(zip(ours, theirs)):
            events += 1
            # Every key that torch tells: older versions do not tell the pool.
            pairs = [(key, mine.get(key), torchs[key]) for key in EVENT_KEYS if key in torchs]
            if "user_metadata" in torchs:
                pairs.append(("user_metadata", mine.get("user_metadata", ""), torchs["user_metadata"]))
            if stacks and torchs["action"] in ("alloc", "free_requested"):
                pairs.append(compare_frames(mine, torchs, stacks))
                native += pairs[-1][0] == "C++ frames"
            if any(a != b for _, a, b in pairs):
                different += 1
                if different <= 3:
                    print(f"  {name}: device {device} event {index}: {[p for p in pairs if p[1] != p[2]]}")
            if "time_us" in torchs and abs(mine["time_us"] - torchs["time_us"]) > 5000:
                failures.expect(name, f"device {device} event {index}: time", mine["time_us"], torchs["time_us"])
                break
        failures.expect(name, f"device {device}: events that differ", different, 0)
    return events, native


def state(snapshot):
    """Segments with their blocks; the requested size of what is free means nothing."""
    rows = []
    for segment in snapshot["segments"]:
        blocks = [tuple(b[k] if k != "requested_size" or b["state"] != "inactive" else 0 for k in BLOCK_KEYS)
                  for b in segment["blocks"]]
        rows.append((tuple(segment.get(k) for k in SEGMENT_KEYS), blocks))
    return sorted(rows)


def compare_states(name, got, wanted, failures):
    ours, theirs = state(got), state(wanted)
    failures.expect(name, "segments at the end", len(ours), len(theirs))
    different = [(a, b) for a, b in zip(ours, theirs) if a != b]
    failures.expect(name, "segments that differ", different[:2], [])
    return sum(len(blocks) for _, blocks in theirs)


def checks(strata, session):
    run = subprocess.run([strata, "check", session], capture_output=True, text=True)
    return run.returncode, (run.stdout + run.stderr).strip()
