#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles pieces of code that read or compare the words of a sentence. Only code that may read words compiles.

usage: check_words.py COMPILER SOURCE_DIR
"""
import subprocess
import sys

compiler, root = sys.argv[1:3]
HEADER, WORDS = '#include "model/base/result.h"\n', '#include "model/base/words.h"\n'
READS = "std::string wordsOf(const strata::model::Sentence& sentence) { return sentence.text(); }\n"
READS_ERROR = "std::string wordsOf(const strata::model::Error& error) { return error.text(); }\n"
DRAWS = "auto piecesOf(const strata::model::Sentence& sentence) { return sentence.pieces(); }\n"
COMPARES = "bool isSame(const strata::model::Sentence& a, const strata::model::Sentence& b) { return a == b; }\n"

#: What it is, the code, whether its library links strata_words, whether it compiles.
CASES = [("nothing", HEADER, False, True),
         *((f"{what} without words.h", HEADER + code, linked, False) for linked in (False, True)
           for what, code in (("text()", READS), ("Error::text()", READS_ERROR), ("pieces()", DRAWS))),
         ("words.h without strata_words", WORDS, False, False),
         ("text() with both", WORDS + READS + READS_ERROR + DRAWS, True, True),
         ("a comparison with both", WORDS + COMPARES, True, False)]

failures = 0
for what, code, linked, compiles in CASES:
    run = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-I", root, *(["-DSTRATA_WORDS"] if linked else []), "-x", "c++", "-"],
                         input=code, cwd=root, capture_output=True, text=True)
    if (run.returncode == 0) != compiles:
        failures += 1
        print(f"{what}: {'does not compile' if compiles else 'compiles, which it must not'}\n{run.stderr[:2000]}")
print(f"{len(CASES)} pieces of code, {failures} wrong")
sys.exit(1 if failures else 0)
