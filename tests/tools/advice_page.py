#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares docs/advice.md with the sentences of the program and with the tests.

Each row and hint quotes a part of a sentence that exists; each row names tests that exist; and each sentence of the analyses that tells the user to do
something is quoted. Exits 1 where that does not hold.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/advice.md"
sys.path.insert(0, str(ROOT / "resources/translations"))
import update  # noqa: E402

#: Where the program advises; elsewhere an imperative is the hint of an error.
ANALYSES = ("model/analysis", "model/whatif/plan/advice.cpp", "model/whatif/kinds/last_uses.cpp")
VERBS = ("break call checkpoint compute del delete drop dry-run end evaluate free give increase keep let load look lower make move name pass put raise "
         "record reduce release remove reserve reuse run set share start try use wait").split()
IMPERATIVE = re.compile(r"(?:^|[:;.,] (?:or |and |so )?)(?:%s)\b" % "|".join(VERBS), re.IGNORECASE)
TR = re.compile(r'\btr\(\s*((?:"(?:[^"\\\n]|\\.)*"\s*)+)')


def files(folder, ending=".cpp"):
    return sorted((ROOT / folder).rglob("*" + ending))


def texts_of_the_window():
    for path in files("views"):
        for match in TR.finditer(path.read_text(encoding="utf-8")):
            yield "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', match.group(1)))


def tests():
    names = set()
    for path in files("tests"):
        names |= {f"{suite}.{name}" for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", path.read_text(encoding="utf-8"), re.M)}
    for path in files("tests", ".py"):
        names |= set(re.findall(r"^ *def (test_\w+)\(", path.read_text(encoding="utf-8"), re.M))
    return names


def main():
    page = PAGE.read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in page.splitlines() if line.startswith("| ")]
    rows = [row for row in rows if row[0] not in ("advice", "---")]
    hints = [line[2:] for line in page.splitlines() if line.startswith("- ")]
    quotes = [row[0] for row in rows] + hints
    sentences, known, wrong = update.collect(), tests(), []
    said = [*sentences, *texts_of_the_window()]
    for quoted in quotes:
        if not any(quoted in text for text in said):
            wrong.append(f"no sentence of the program has: {quoted}")
    for row in rows:
        for name in re.findall(r"`([^`]+)`", row[2]):
            if name.split("::")[-1] not in known:
                wrong.append(f"no test has the name: {name}")
    for text, path in sentences.items():
        if str(path).startswith(ANALYSES) and IMPERATIVE.search(text) and not any(quoted in text for quoted in quotes):
            wrong.append(f"{path}: docs/advice.md does not quote: {text}")
    print("\n".join(wrong) or f"{len(rows)} pieces of advice and {len(hints)} hints, each with its evidence")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
