#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fails if a translatable text with a number has no English plural in resources/translations/strata_en.ts.

usage: check_plurals.py LUPDATE SOURCE_DIR
"""
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

lupdate, root = sys.argv[1:3]
with tempfile.TemporaryDirectory() as folder:
    copy = os.path.join(folder, "strata_en.ts")
    shutil.copy(os.path.join(root, "resources/translations/strata_en.ts"), copy)
    subprocess.run([lupdate, "-silent", "-I", root, "-pluralonly", "-no-obsolete", "-locations", "none",
                    os.path.join(root, "views"), os.path.join(root, "app/gui"), "-ts", copy], check=True)
    texts = ElementTree.parse(copy).getroot()
missing = [(context.findtext("name"), message.findtext("source"))
           for context in texts.iter("context") for message in context.iter("message")
           if message.find("translation").get("type") == "unfinished"
           or len(message.findall("translation/numerusform")) != 2]
found = len(list(texts.iter("message")))
for context, source in missing:
    print(f"{context}: \"{source}\" has no plural: add it to strata_en.ts, as the others are")
if found == 0:
    print("no text with a number was found: lupdate did not see the sources")
sys.exit(1 if missing or found == 0 else 0)
