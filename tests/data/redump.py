#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a snapshot again in every form that Strata reads, for tests that compare what they find in each.

usage: redump.py IN OUTDIR

OUTDIR gets FORM.pickle (or .gz, .json, .html, .list) for each form.
"""
import base64, gzip, json, os, pickle, struct, sys


class Writer:
    """A pickler with the habits of others: LibTorch's (one APPENDS per list, strings memoised by value, frames written
    out each time), Python 2's (byte strings), and one that writes every address as an integer of nine bytes."""

    def __init__(self, strings, nine=False):
        self.out = bytearray(b"\x80\x02")
        self.strings, self.nine, self.memo = strings, nine, {}

    def put(self, key):
        n = self.memo[key] = len(self.memo)
        self.out += b"q" + bytes([n]) if n < 256 else b"r" + struct.pack("<I", n)

    def text(self, s):
        if s in self.memo:
            n = self.memo[s]
            self.out += b"h" + bytes([n]) if n < 256 else b"j" + struct.pack("<I", n)
            return
        raw = s.encode("utf-8", "surrogatepass")
        if self.strings == "unicode":
            self.out += b"X" + struct.pack("<I", len(raw)) + raw
        elif len(raw) < 256:
            self.out += b"U" + bytes([len(raw)]) + raw
        else:
            self.out += b"T" + struct.pack("<i", len(raw)) + raw
        self.put(s)

    def integer(self, v):
        if self.nine and v > 2**31:
            self.out += b"\x8a\x09" + v.to_bytes(9, "little", signed=True)
        elif 0 <= v < 256:
            self.out += b"K" + bytes([v])
        elif 0 <= v < 65536:
            self.out += b"M" + struct.pack("<H", v)
        elif -2**31 <= v < 2**31:
            self.out += b"J" + struct.pack("<i", v)
        else:
            self.out += b"\x8a\x08" + struct.pack("<q", v)

    def write(self, v):
        if isinstance(v, dict):
            self.out += b"}("
            for key, member in v.items():
                self.write(key); self.write(member)
            self.out += b"u"
        elif isinstance(v, list):
            self.out += b"]("
            for item in v: self.write(item)
            self.out += b"e"
        elif isinstance(v, tuple):
            if len(v) != 2: self.out += b"("
            for item in v: self.write(item)
            self.out += b"\x86" if len(v) == 2 else b"t"
        elif isinstance(v, bool): self.out += b"\x88" if v else b"\x89"
        elif isinstance(v, int): self.integer(v)
        elif isinstance(v, float): self.out += b"G" + struct.pack(">d", v)
        elif v is None: self.out += b"N"
        else: self.text(v)

    def bytes_of(self, v):
        self.write(v)
        return bytes(self.out + b".")


def plain_torch_1_13(segments):
    """The list of segments that torch 1.13 wrote: no pools, no addresses of blocks. The history of a block begins with its occupant."""
    out = []
    for s in segments:
        t = {k: s[k] for k in ("device", "address", "total_size", "allocated_size", "active_size", "stream", "segment_type")}
        t["blocks"] = []
        for b in s["blocks"]:
            c = {"size": b["size"], "state": b["state"]}
            if b["state"] != "inactive":
                merged = {"addr": b["address"] + 512, "real_size": 1, "frames": []}
                c["history"] = [{"addr": b["address"], "real_size": b["requested_size"], "frames": b["frames"]}, merged]
            t["blocks"].append(c)
        out.append(t)
    return out


def html(data):
    """A page as torch/cuda/_memory_viz.py writes it."""
    data += b"\x00" * (3 - len(data) % 3)
    files = json.dumps([{"name": "snapshot.pickle", "base64": base64.b64encode(data).decode()}])
    return ("\n<!DOCTYPE html>\n<html>\n<head>\n</head>\n<body>\n<script type=\"module\">\n"
            f"const local_files = {files}\nadd_local_files(local_files, 'Active Memory Timeline')\n</script>\n</body>\n").encode()


def main():
    source, target = sys.argv[1:3]
    raw = open(source, "rb").read()
    if raw[:2] == b"\x1f\x8b": raw = gzip.decompress(raw)
    snapshot = pickle.loads(raw)
    os.makedirs(target, exist_ok=True)

    def save(name, data):
        with open(os.path.join(target, name), "wb") as out: out.write(data)

    for protocol in range(6):
        save(f"protocol{protocol}.pickle", pickle.dumps(snapshot, protocol=protocol))
    save("python_pickler.pickle", python_pickler(snapshot))
    save("unshared.pickle", pickle.dumps(json.loads(json.dumps(snapshot)), protocol=4))
    half = len(raw) // 2
    save("members.pickle.gz", gzip.compress(raw[:half]) + gzip.compress(raw[half:]))
    save("libtorch.pickle", Writer("unicode").bytes_of(snapshot))
    save("python2.pickle", Writer("bytes").bytes_of(snapshot))
    save("nine_bytes.pickle", Writer("unicode", nine=True).bytes_of(snapshot))
    save("plain.json", json.dumps(snapshot).encode())
    save("indented.json", b"\xef\xbb\xbf" + json.dumps(snapshot, indent=1).encode())
    save("packed.json.gz", gzip.compress(json.dumps(snapshot).encode()))
    save("page.html", html(pickle.dumps(snapshot)))
    save("json_page.html", f"<html><script>const snapshot = {json.dumps(snapshot)};\ndraw(snapshot)</script></html>".encode())
    save("torch1.13.list", pickle.dumps(plain_torch_1_13(snapshot["segments"])))


def python_pickler(snapshot):
    """Python's own pickler in Python: no frames, other memo order than the one in C."""
    import io
    out = io.BytesIO()
    pickle._Pickler(out, protocol=3).dump(snapshot)
    return out.getvalue()


main()
