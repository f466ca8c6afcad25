#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares docs/advice.md with the sentences of the program and with the tests. Exits 1 where they differ.

Each row and hint quotes a part of a sentence that exists; each row names tests that exist; and each sentence of the analyses that tells the user to do
something is quoted.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "resources/translations"))
import update  # noqa: E402

#: Where the program advises; elsewhere an imperative is the hint of an error.
ANALYSES = ("model/analysis", "model/whatif/plan/advice.cpp", "model/whatif/kinds/last_uses.cpp")
#: Advice begins a sentence, or a part of one, with one of these.
VERBS = ("break|call|checkpoint|compute|del|delete|drop|dry-run|end|evaluate|free|give|increase|keep|let|load|look|lower|make|move|name|pass|put|raise|"
         "record|reduce|release|remove|reserve|reuse|run|set|share|start|try|use|wait")
TR = re.compile(r'\btr\(\s*((?:"(?:[^"\\\n]|\\.)*"\s*)+)')
IMPERATIVE = re.compile(rf"(?:^|[:;.,] (?:or |and |so )?)(?:{VERBS})\b", re.IGNORECASE)


def texts(folder, ending):
    return [path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).rglob("*" + ending))]


def names_of_tests():
    cpp = re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", "\n".join(texts("tests", ".cpp")), re.M)
    return {".".join(name) for name in cpp}.union(re.findall(r"^ *def (test_\w+)", "\n".join(texts("tests", ".py")), re.M))


def main():
    lines = (ROOT / "docs/advice.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ") and not line.startswith(("| advice |", "| --- |"))]
    quotes = [row[0] for row in rows] + [line[2:] for line in lines if line.startswith("- ")]
    sentences, known = update.collect(), names_of_tests()
    said = [*sentences, *(re.sub(r'"\s+"', "", text) for source in texts("views", ".cpp") for text in TR.findall(source))]
    wrong = [f"no sentence of the program has: {quote}" for quote in quotes if not any(quote in text for text in said)]
    for advice, _, tests in rows:
        named = re.findall(r"`(?:\w+\.py::)?([^`]+)`", tests)
        wrong += [f"no test has the name: {name}" for name in named if name not in known] if named else [f"no test is named: {advice}"]
    wrong += [f"{path}: docs/advice.md does not quote: {text}" for text, path in sentences.items()
              if str(path).startswith(ANALYSES) and IMPERATIVE.search(text) and not any(quote in text for quote in quotes)]
    print("\n".join(wrong) or f"{len(rows)} pieces of advice, {len(quotes) - len(rows)} hints, each with its evidence")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
