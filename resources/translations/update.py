#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings a translation up to what the sources say: the texts of the window, and the sentences of model and commands
(model/base/sentence.h), which lupdate does not know and are collected here, in the context "Model".

usage: update.py LUPDATE FILE.ts [OPTION OF LUPDATE...]
       update.py --sentences FILE.cpp    writes the collected sentences alone, as modelTexts()
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WITH_SENTENCES = ("model", "app", "views")
SENTENCE_HEADER = ROOT / "model/base/sentence.h"
# How many literals, one behind the other, each takes.
MAKERS = {"say": 1, "English": 1, "sayCounted": 2}

TOKEN = re.compile(r"""
    //[^\n]* | /\*.*?\*/ | \s+                      # between tokens
  | R"(?P<end>[^(]*)\(.*?\)(?P=end)"                # raw text
  | (?P<text>"(?:[^"\\\n]|\\.)*")
  | '(?:[^'\\\n]|\\.)+'
  | (?P<name>[A-Za-z_]\w*)
  | \d[\w'.]*
  | .
""", re.VERBOSE | re.DOTALL)


class Missing(Exception):
    """Says of a sentence what keeps it from being collected."""


def tokens(source):
    """(kind, text, offset) of all that is neither blank nor comment."""
    for match in TOKEN.finditer(source):
        text = match.group()
        if text.isspace() or text.startswith(("//", "/*")):
            continue
        yield match.lastgroup or "other", text, match.start()


def literal(stream, at):
    """The texts side by side that begin at `at`, and what follows them."""
    parts = []
    while at < len(stream) and stream[at][0] == "text":
        parts.append(stream[at][1][1:-1])
        at += 1
    return "".join(parts), at


def sentences(path):
    """The English, as the source spells it, of each sentence that a file makes."""
    source = path.read_text(encoding="utf-8")
    stream = list(tokens(source))
    for number, (kind, name, offset) in enumerate(stream):
        if kind != "name" or name not in MAKERS or stream[number + 1][1] != "(":
            continue
        before = stream[number - 1]
        if before[0] == "name" and before[1] != "return":
            continue  # a declaration
        at = number + 1
        for _ in range(MAKERS[name]):
            english, at = literal(stream, at + 1)
            if not english or stream[at][1] not in ",)":
                line = source.count("\n", 0, offset) + 1
                raise Missing(f"{path.relative_to(ROOT)}:{line}: {name}() wants its English right there, as a literal")
            yield english


def collect():
    """All English in order, without repetitions: file of the first one by text."""
    found = {}
    for folder in WITH_SENTENCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cpp") and path != SENTENCE_HEADER:
                for english in sentences(path):
                    found.setdefault(english, path.relative_to(ROOT))
    return found


def collected_source():
    lines = ["// Made by resources/translations/update.py.", "#include <QtGlobal>", "#include <span>", "",
             "namespace strata::views::text {", "", "namespace {", "constexpr const char* kModelTexts[] = {"]
    file = None
    for english, path in collect().items():
        if path != file:
            lines.append(f"    // {path}")
            file = path
        lines.append(f'    QT_TRANSLATE_NOOP("Model", "{english}"),')
    lines += ["};", "} // namespace", "", "std::span<const char* const> modelTexts();", "",
              "std::span<const char* const> modelTexts()", "{", "    return kModelTexts;", "}", "",
              "} // namespace strata::views::text", ""]
    return "\n".join(lines)


def update(lupdate, translation, options):
    with tempfile.TemporaryDirectory() as folder:
        texts = pathlib.Path(folder) / "model_texts.cpp"
        texts.write_text(collected_source(), encoding="utf-8")
        subprocess.run([lupdate, "-silent", "-I", ROOT, "-locations", "none", *options,
                        ROOT / "views", ROOT / "app/gui", texts, "-ts", translation], check=True)


if __name__ == "__main__":
    try:
        if len(sys.argv) == 3 and sys.argv[1] == "--sentences":
            pathlib.Path(sys.argv[2]).write_text(collected_source(), encoding="utf-8")
        elif len(sys.argv) > 2:
            update(sys.argv[1], sys.argv[2], sys.argv[3:])
        else:
            sys.exit(__doc__)
    except Missing as missing:
        sys.exit(str(missing))
