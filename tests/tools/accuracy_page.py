#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes docs/accuracy.md from docs/accuracy.json, the figures that tests/truth/tests/test_whatif_*.py measure.

usage: accuracy_page.py [--write]

Without --write the page is compared, and the script exits 1 where it differs. Texts of the JSON are written by hand; `update()` replaces what was
measured: the rows of one change, and how they were made. A list of three holds requested, allocated and reserved memory. A text of `results` and
`overview` may name keys of rows: "{met} of {plans}"; an overview adds them up.
"""
import collections
import json
import pathlib
import sys
import textwrap

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
NONE = "–"
FIGURES = ("requested", "allocated", "reserved")
WIDTH = 150
#: Heading of a column, and what it shows. It is left out where no row has its first key, or all have 0 in OPTIONAL ones.
COLUMNS = (
    ("change", "{asked}"), ("families", "{families}"), ("answers", "{answers}"), ("rejected", "{rejected}"), ("range only", "{ranges_only}"),
    ("inside interval", "{inside}"), ("width", "{width_median}"), ("cases", "{cases}"), ("not confirmed", "{not_confirmed}"), ("exact", "{exact}"),
    ("median", "{median}"), ("95th", "{tail}"), ("worst", "{worst}"), ("no change", "{no_change_median}"),
    ("runs", "{runs}"), ("that fit", "{fit}"),
    ("wrong \"fits\"", "{fits_wrong} of {fits_said}"), ("no change", "{same_fits_wrong} of {same_fits_said}"),
    ("wrong \"does not fit\"", "{misfits_wrong} of {misfits}"), ("no change", "{same_misfits_wrong} of {same_misfits}"),
    ("not answered", "{not_answered}"))
OPTIONAL = ("rejected", "not_confirmed", "not_answered")
DIGITS = {"median": 2, "tail": 2, "worst": 2, "ratio_median": 3, "ratio_least": 3, "ratio_most": 3}  #: behind the point; of other fractions 1
OVERVIEW = ("change", "what was compared", "answers", "held back", "median error", "worst error", "inside interval")
MEASURED = {"date": "measured", "strata": "Strata", "pytorch": "PyTorch", "gpu": "simulated GPU", "commit": "commit", "command": "command"}


def shown(key, value):
    if isinstance(value, list):
        cells = [NONE if each is None else shown(key, each) for each in value]
        return cells[0] if len(set(cells)) == 1 else " / ".join(cells)
    return f"{value:.{DIGITS.get(key, 1)}f}" if isinstance(value, float) else str(value)


def filled(template, row):
    """Keys that a row lacks are NONE."""
    return template.format_map(collections.defaultdict(lambda: NONE, {key: shown(key, value) for key, value in row.items()}))


def table(head, rows):
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]


def anchor(title):
    return "".join(letter for letter in title.lower().replace(" ", "-") if letter.isalnum() or letter in "-_")


def flat(rows, key):
    """All values of a key: of rows, and of figures."""
    values = [row[key] for row in rows if key in row]
    return [each for value in values for each in (value if isinstance(value, list) else [value]) if each is not None]


def answers_of(rows):
    return sum(next((row[key] for key in ("answers", "runs", "plans") if key in row), None) or max(flat([row], "cases"), default=0) for row in rows)


def overview(entry, line):
    """Figures of the rows that a line is of, unless it says something else."""
    rows = [row for row in entry["rows"] if row["asked"] in line["asked"]]
    sums = {key: sum(flat(rows, key)) for row in rows for key, value in row.items() if isinstance(value, int)}
    cells = {"change": f"[{line['change']}](#{anchor(entry['title'])})", "answers": str(answers_of(rows)),
             "held back": str(answers_of([row for row in rows if row["families"] == "held back"]))}
    for name, key in (("median error", "median"), ("worst error", "worst")):
        if values := flat(rows, key):
            cells[name] = f"{max(values):.2f}"
    if sums.get("not_confirmed"):
        cells["worst error"] += f" ({sums['not_confirmed']} not confirmed)"  # each is one of 100 %
    if "inside" in sums:
        cells["inside interval"] = f"{sums['inside']} of {sums['answers']}"
    return [filled(line[name], sums) if name in line and name != "change" else cells.get(name, NONE) for name in OVERVIEW]


def tables(entry):
    """Rows with a text of their own are listed; others have a column for each key."""
    results = entry.get("results", {})
    listed = [[asked, row["families"], filled(text, row)] for asked, text in results.items() for row in entry["rows"] if row["asked"] == asked]
    rows = [row for row in entry["rows"] if row["asked"] not in results]
    if listed:
        yield from table(("check", "families", "result"), listed)
    if rows:
        keys = [(name, template, template[1:template.index("}")]) for name, template in COLUMNS]
        columns = [(name, template) for name, template, key in keys if any(row.get(key) if key in OPTIONAL else key in row for row in rows)]
        yield from table([name for name, _ in columns], [[filled(template, row) for _, template in columns] for row in rows])
    missed = [f"- {row['asked']}, {row['families']}, {figure}: limits {bar}" for row in rows for figure, bar in zip(FIGURES, row.get("bar_met", ()))
              if bar not in ("met", None)]
    yield from ["", *missed] if missed else []


def page(data):
    def paragraph(lines):
        return textwrap.wrap(" ".join(lines), WIDTH, break_long_words=False, break_on_hyphens=False)
    counted = [row for entry in data["changes"] for line in entry["overview"] for row in entry["rows"] if row["asked"] in line["asked"]]
    sums = {key: sum(row[key][-1] or 0 for row in counted if key in row) for key in ("cases", "exact")}  # of reserved memory
    sums |= {key: sum(row[key] for row in counted if "inside" in row) for key in ("answers", "inside", "ranges_only")}
    lines = [f"# {data['title']}", "", filled(data["verdict"], sums), "", *paragraph(data["text"]), "",
             *table(OVERVIEW, [overview(entry, line) for entry in data["changes"] for line in entry["overview"]]),
             "", "## How to read the tables", "", *(f"- {text}" for text in data["reading"])]
    for entry in data["changes"]:
        lines += ["", f"## {entry['title']}", "", *paragraph(entry["text"]), "", *tables(entry)]
    measured = [[entry["title"], *(f"`{entry[key]}`" if key == "command" else entry[key] for key in MEASURED)] for entry in data["changes"]]
    lines += ["", "## Measured by", "", *paragraph(data["measured"]), "", *table(("change", *MEASURED.values()), measured)]
    return "\n".join(lines) + "\n"


def text_of(value, depth=0):
    """JSON with a line for each row, so that a difference shows what changed."""
    if depth == 4 or not value or not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    start, end = "{}" if isinstance(value, dict) else "[]"
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    items = [(f"{json.dumps(key)}: " if isinstance(value, dict) else "") + text_of(each, depth + 1) for key, each in pairs]
    return start + ",".join(f"\n{' ' * (depth + 1)}{item}" for item in items) + f"\n{' ' * depth}{end}"


def update(path, name, rows, **made):
    """Replaces the rows of a change, and how they were made."""
    path = pathlib.Path(path)
    data = json.loads(path.read_text(encoding="utf-8"))
    entry = next((each for each in data["changes"] if each["id"] == name), None)
    if entry is None:
        raise ValueError(f"{path} has no change with \"id\": \"{name}\": add one with title, text and overview")
    entry.update(made, rows=rows)
    path.write_text(text_of(data) + "\n", encoding="utf-8")


def main():
    made, target = page(json.loads((DOCS / "accuracy.json").read_text(encoding="utf-8"))), DOCS / "accuracy.md"
    if sys.argv[1:] == ["--write"]:
        target.write_text(made, encoding="utf-8")
    elif not target.exists() or target.read_text(encoding="utf-8") != made:
        sys.exit(f"{target} differs from accuracy.json. Run: python3 tests/tools/accuracy_page.py --write")


if __name__ == "__main__":
    main()
