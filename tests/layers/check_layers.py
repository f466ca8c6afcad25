#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds every include and licence line against cmake/layers.txt, and the names of types and files against each other.

Prints a line for each thing that is wrong, with what to do, and exits 1 if there is one. A directory belongs to the row with
the longest name that it lies in; what a row names may be included with all that lies in it. `--self-test` breaks each rule
once and expects to be told.
"""
import argparse
import pathlib
import re
import sys
import tempfile

CHECKED = ("app", "capture", "model", "views", "tests/bench")
LICENSED = ("app", "capture", "model", "views", "tests", "packaging", "cmake")
APACHE = ("capture", "model/wire", "tests/unit/simgpu")
QT = ("app/gui", "views", "tests/bench", "tests/gui")
SOURCES = {".h", ".cpp", ".c"}
WITH_LICENCE = SOURCES | {".py"}
MOST_FILES = 40
PUBLIC = pathlib.PurePosixPath("capture/include")  # in the search path of whoever links the recorder
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)')
NAMESPACE = re.compile(r"namespace ([\w:]+) \{")
TYPE = re.compile(r"(?:struct|class|enum class|union) (\w+)[^;]*\{")


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def read_list(root):
    """Directory -> what it may include, in the order of the file."""
    layers = {}
    for line in (root / "cmake/layers.txt").read_text().splitlines():
        line = line.split("#", 1)[0].strip()
        if line:
            names, _, allowed = line.partition(":")
            for name in names.split():
                layers[name] = allowed.split()
    return layers


def sources(root, tops, suffixes):
    for top in tops:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path.relative_to(root)


def includes(path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if found := INCLUDE.match(line):
            yield number, found[1] == '"', found[2]


def row_of(layers, folder):
    rows = [name for name in layers if inside(folder, name)]
    return max(rows, key=len) if rows else None


def check_includes(root, layers):
    seen = set()
    for path in sources(root, CHECKED, SOURCES):
        folder = path.parent.as_posix()
        row = row_of(layers, folder)
        if row is None:
            yield f"{path}: cmake/layers.txt has no row for {folder}: add one"
            continue
        seen.add(row)
        for number, quoted, name in includes(root / path):
            where = f"{path}:{number}"
            if not quoted:
                if re.match(r"Q[A-Z]", name) and not any(inside(folder, top) for top in QT):
                    yield f"{where}: <{name}> is Qt's, which {folder} does without"
                continue
            target = pathlib.PurePosixPath(name)
            if not (root / target).exists():
                target = PUBLIC / name if (root / PUBLIC / name).exists() else target
            to = target.parent.as_posix()
            if to == "." or inside(to, row) or any(inside(to, allowed) for allowed in layers[row]):
                continue
            yield f"{where}: {name}: {row} may not include {to}: move what is needed down, or change the layers"
    for name in layers:
        if not (root / name).is_dir():
            yield f"cmake/layers.txt: there is no directory {name}: take its row out"
        elif name not in seen:
            yield f"cmake/layers.txt: {name} holds no source: take its row out"


def check_downwards(layers):
    """A row may only name what stands in rows below it, so that the list has no ring."""
    names = list(layers)
    for position, name in enumerate(names):
        for allowed in layers[name]:
            rows = {other for other in names if inside(other, allowed)} | {row_of(layers, allowed)}
            above = [other for other in names[:position] if other in rows]
            if above and not inside(name, allowed):
                yield f"cmake/layers.txt: {name} names {allowed}, which stands above it: the list goes down"


def check_licences(root):
    for path in sources(root, LICENSED, WITH_LICENCE):
        if inside(path.as_posix(), "tests/data"):
            continue
        apache = any(inside(path.as_posix(), top) for top in APACHE)
        wanted = f"SPDX-License-Identifier: {'Apache-2.0' if apache else 'GPL-3.0-or-later'}"
        head = (root / path).read_text(errors="replace").splitlines()[:3]
        if not any(wanted in line for line in head):
            yield f"{path}: its first lines do not say {wanted}"


def check_names(root):
    """Two types of one name in one namespace are one type to the linker: it keeps the members of one of them."""
    found = {}
    for path in sources(root, ("app", "capture", "model", "views"), {".h"}):
        namespace = ""
        for line in (root / path).read_text(errors="replace").splitlines():
            if opened := NAMESPACE.match(line):
                namespace = opened[1]
            elif (defined := TYPE.match(line)) and namespace:
                found.setdefault((namespace, defined[1]), []).append(path)
    for (namespace, name), paths in found.items():
        if len(paths) > 1:
            yield f"{paths[0]} and {paths[1]} both define {namespace}::{name}: rename one"


def check_files(root):
    """A file is found by its name, and a folder can be read at a glance."""
    folders = {}
    for path in sources(root, (*CHECKED, "tests"), SOURCES):
        folders.setdefault(path.parent, set()).add(path.name)
    for folder, names in folders.items():
        if len(names) > MOST_FILES:
            yield f"{folder}: {len(names)} sources, more than {MOST_FILES}: split it by task"
    for top in ("model", "views"):
        found = {}
        for folder, names in folders.items():
            for name in names if inside(folder.as_posix(), top) else ():
                first = found.setdefault(name, folder)
                if first != folder:
                    yield f"{first}/{name} and {folder}/{name} have the same name: rename one"


def problems(root):
    layers = read_list(root)
    yield from check_files(root)
    yield from check_names(root)
    yield from check_downwards(layers)
    yield from check_includes(root, layers)
    yield from check_licences(root)


def self_test():
    gpl, apache = "// SPDX-License-Identifier: GPL-3.0-or-later\n", "// SPDX-License-Identifier: Apache-2.0\n"
    right = {
        "cmake/layers.txt": "tests/bench: views\napp: views model\nviews: model\ncapture: model/wire # and nothing else\n"
                            "model/trace: model/wire\nmodel/wire:\n",
        "app/main.cpp": gpl + '#include "views/window.h"\n',
        "views/window.h": gpl + '#include <QWidget>\n#include "model/trace/events.h"\n',
        "capture/agent.cpp": apache + '#include "model/wire/chunk.h"\n#include "strata/capture.h"\n',
        "capture/include/strata/capture.h": apache,
        "tests/bench/paint.cpp": gpl + '#include "views/window.h"\n',
        "model/trace/events.h": gpl + '#include "model/wire/chunk.h"\n',
        "model/wire/chunk.h": apache,
    }
    wrong = {
        "an include that points up": {"model/trace/events.h": gpl + '#include "views/window.h"\n'},
        "an include of another part of the model": {"capture/agent.cpp": apache + '#include "model/trace/events.h"\n'},
        "Qt in the model": {"model/trace/events.h": gpl + "#include <QString>\n"},
        "two types of one name": {name: gpl + "namespace strata::views {\nstruct Row {\n};\n}\n" for name in ("views/window.h", "views/row.h")},
        "two files of one name": {"model/wire/events.h": apache},
        "a folder of many files": {f"model/trace/part{number}.h": gpl for number in range(MOST_FILES)},
        "no licence": {"app/main.cpp": '#include "views/window.h"\n'},
        "the licence of another directory": {"model/wire/chunk.h": gpl},
        "a directory without a row": {"model/session/session.h": gpl},
        "a row without a directory": {"cmake/layers.txt": right["cmake/layers.txt"] + "model/gone:\n"},
        "a list that goes up": {"cmake/layers.txt": right["cmake/layers.txt"].replace("model/wire:", "model/wire: model/trace")},
    }

    def found(files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return list(problems(pathlib.Path(folder)))

    failures = [f"what is right is called wrong: {line}" for line in found(right)]
    failures += [f"not found: {name}" for name, change in wrong.items() if not found(right | change)]
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    wrong = self_test() if arguments.self_test else list(problems(arguments.root))
    print("\n".join(wrong) or "every include, licence and row is as it should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
