#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fails if a translatable text with a number has no English plural in resources/translations/strata_en.ts, or if
translators would not get a sentence of the model (model/base/sentence.h).

usage: check_translations.py LUPDATE SOURCE_DIR
"""
import ast
import os
import pathlib
import shutil
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

lupdate, root = sys.argv[1:3]
translations = os.path.join(root, "resources/translations")
sys.dont_write_bytecode = True
sys.path.insert(0, translations)
import update


def missing_plurals(folder):
    copy = os.path.join(folder, "strata_en.ts")
    shutil.copy(os.path.join(translations, "strata_en.ts"), copy)
    update.update(lupdate, copy, ["-pluralonly", "-no-obsolete"])
    texts = ElementTree.parse(copy).getroot()
    if not list(texts.iter("message")):
        yield "no text with a number was found: lupdate did not see the sources"
    for context in texts.iter("context"):
        for message in context.iter("message"):
            if (message.find("translation").get("type") == "unfinished"
                    or len(message.findall("translation/numerusform")) != 2):
                yield (f"{context.findtext('name')}: \"{message.findtext('source')}\" has no plural: "
                       "add it to strata_en.ts, as the others are")


def missing_sentences(folder):
    empty = os.path.join(folder, "strata_xx.ts")
    update.update(lupdate, empty, [])
    for_translators = {message.findtext("source") for context in ElementTree.parse(empty).getroot().iter("context")
                       if context.findtext("name") == "Model" for message in context.iter("message")}
    collected = {ast.literal_eval(f'"{english}"') for english in update.collect()}
    if len(collected) < 100:
        yield f"{len(collected)} sentences were found: update.py did not see the sources"
    for english in sorted(collected ^ for_translators):
        yield f"\"{english}\" is not what lupdate makes of it"


def refused_sources(folder):
    """Sentences that update.py could not collect do not go by in silence."""
    for source in ('fail(Kind::Usage, say(kText));', 'return say(wide ? "a" : "b");', 'English(name).text();',
                   'sayCounted("%1 block", many, count);'):
        path = pathlib.Path(folder) / "sentence.cpp"
        path.write_text(source, encoding="utf-8")
        update.ROOT = pathlib.Path(folder)
        try:
            found = list(update.sentences(path))
        except update.Missing:
            continue
        yield f"update.py finds {found} in {source}"


with tempfile.TemporaryDirectory() as scratch:
    problems = [*missing_plurals(scratch), *missing_sentences(scratch), *refused_sources(scratch)]
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
