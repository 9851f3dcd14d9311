#!/usr/bin/env python3
"""The measured tables of bench/results, one CSV a machine and subject, and the figures that documents take from them.

    results.py merge SUBJECT.csv TABLE.csv...    puts tables that benches wrote into a subject (a table of the same
                                                 name is replaced)
    results.py split SUBJECT.csv... FOLDER       writes them out again, a file each: plot_bp.py, roofline.sh and --with
                                                 read these
    results.py figures PAGE.md...                writes the tables of pages anew; --check: fails where they differ

A subject has a column `measurement` (the name of the file that was merged), `commit` and `date`; its first lines tell
the command and the machine of each measurement. A page has a table behind each comment of the form

    <!-- figures h200/kernels.csv
    where: measurement=operator          rows that are taken: names and values, * for any
    rows: degree                         the column whose values begin the rows (or several: dim+degree)
    across: yes                          (the values of `rows` stand in the first line instead)
    pick: last                           (the last row that fits is taken, not the median of all)
    float64, GDoF/s = gdofs @ precision=float64
    of the floor = gdofs / 268 @ precision=float64 % percent
    -->

A line `TITLE = EXPRESSION @ conditions % format` is a column; a line that begins with blanks continues the line before.
The expression has the columns of the CSV as names (other signs than letters and digits become _). Where several rows
fit, the cell is their median. Formats: those of Python, `percent`, `text`; without a format three digits count."""
import argparse
import csv
import math
import os
import re
import statistics
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")
MONTHS = "January February March April May June July August September October November December".split()


def read(path):
    """Comments and rows of a CSV."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = file.read().splitlines()
    comments = [line[1:].strip() for line in lines if line.startswith("#")]
    return comments, list(csv.DictReader(line for line in lines if line and not line.startswith("#")))


def write(path, comments, columns, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        for comment in comments:
            file.write(f"# {comment}\n")
        out = csv.DictWriter(file, columns, restval="", lineterminator="\n", extrasaction="ignore")
        out.writeheader()
        out.writerows(rows)


def columns_of(tables):
    """All columns of some tables, each behind the one that stands before it in its own table."""
    columns = []
    for rows in tables:
        before = -1
        for name in rows[0] if rows else []:
            if name in columns:
                before = columns.index(name)
            else:
                before += 1
                columns.insert(before, name)
    return columns


def origin(comments, path):
    """Commit and date that the comments of a bench tell, or else those of the file in git."""
    text = " ".join(comments)
    commit = re.search(r"\b(?:commit|tessera) ([0-9a-f]{7,8})\b", text)
    date = re.search(r"\b20\d\d-\d\d-\d\d\b", text)
    written = re.search(r"\b(\d\d?) (" + "|".join(MONTHS) + r") (20\d\d)\b", text)
    day = date.group() if date else ""
    if written and not day:
        day = f"{written[3]}-{MONTHS.index(written[2]) + 1:02}-{int(written[1]):02}"
    if not day or not commit:
        log = subprocess.run(["git", "log", "-1", "--format=%h %ad", "--date=short", "--", path], check=False,
            capture_output=True, text=True).stdout.split() or ["", ""]
    return commit[1] if commit else log[0], day or log[1]


def merge(subject, paths):
    comments, rows = read(subject) if os.path.exists(subject) else ([], [])
    for path in paths:
        name = os.path.splitext(os.path.basename(path))[0]
        told, table = read(path)
        commit, date = origin(told, path)
        comments = [c for c in comments if not c.startswith(name + ": ")] + [f"{name}: {c}" for c in told]
        rows = [r for r in rows if r["measurement"] != name]
        for row in table:
            rows.append({"measurement": name, **row, "commit": row.get("commit") or commit, "date": date})
    by_name = {}
    for row in rows:
        by_name.setdefault(row["measurement"], []).append(row)
    columns = [c for c in columns_of(list(by_name.values())) if c not in ("commit", "date")]
    columns = [c for c in columns if any(row.get(c) for row in rows)]
    write(subject, comments, columns + ["commit", "date"], rows)


def split(subjects, folder):
    os.makedirs(folder, exist_ok=True)
    for subject in subjects:
        comments, rows = read(subject)
        for name in dict.fromkeys(row["measurement"] for row in rows):
            table = [row for row in rows if row["measurement"] == name]
            columns = [c for c in table[0] if c != "measurement" and any(row[c] for row in table)]
            told = [c[len(name) + 2:] for c in comments if c.startswith(name + ": ")]
            write(os.path.join(folder, name + ".csv"), told, columns, table)


def conditions(text):
    return [item.split("=", 1) for item in re.split(r",\s*(?=\w[\w ]*=)", text.strip()) if item.strip()]


def fits(row, wanted):
    return all(row.get(name.strip()) in value.strip().split("|") or value.strip() == "*" for name, value in wanted)


def numbers(row):
    out = {"max": max, "min": min, "round": round, "int": int}
    for name, value in row.items():
        try:
            out[re.sub(r"\W", "_", name)] = float(value)
        except ValueError:
            out[re.sub(r"\W", "_", name)] = value
    return out


def show(value, form):
    if isinstance(value, str) or form == "text":
        return str(value)
    if form == "percent":
        return f"{100 * value:.0f} %"
    if form:
        return format(round(value) if form.endswith("d") else value, form)
    if value == round(value):
        return str(int(value)) if abs(value) < 1e6 else f"{value / 1e6:.1f} M"
    text = f"{value:.2e}"
    if 1e-4 <= abs(value) < 1e6:
        text = f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"
    if float(text) == value and "." in text and "e" not in text:  # the file has no more digits
        text = text.rstrip("0").rstrip(".")
    return text


def same(rows):
    """Fails where rows that fit one cell are of different problems: their median would mean nothing."""
    for name in ("dofs", "unknowns", "equation", "degree", "dim"):
        if len({row.get(name) for row in rows}) > 1:
            raise SystemExit(f"rows of one cell differ in {name}: {rows[0]} and {rows[1]}")


def cell(rows, expression, wanted, form, pick):
    found = []
    rows = [row for row in rows if fits(row, wanted)][-1 if pick == "last" else 0:]
    same(rows)
    for row in rows:
        try:
            found.append(eval(expression, {"__builtins__": {}}, numbers(row)))
        except TypeError:  # a column that is empty
            continue
    found = [value for value in found if value != ""]
    if not found:
        return ""
    return show(found[0] if isinstance(found[0], str) else statistics.median(found), form)


def table(spec):
    """The lines of the table that a comment describes."""
    lines = [line.strip() for line in re.sub(r"\n +", " ", spec.strip()).splitlines()]
    path, settings, columns = lines[0], {"where": "", "rows": "degree", "across": "", "pick": ""}, []
    for line in lines[1:]:
        if (match := re.match(r"(where|rows|across|title|only|pick): *(.*)", line)):
            settings[match[1]] = match[2]
        elif line:
            title, rest = line.split(" = ", 1)
            rest, _, form = rest.partition(" % ")
            expression, _, wanted = rest.partition(" @ ")
            columns.append((title, expression.strip(), conditions(wanted), form.strip()))
    rows = [row for row in read(os.path.join(ROOT, path))[1] if fits(row, conditions(settings["where"]))]
    if not rows:
        raise SystemExit(f"{path}: no row with {settings['where']}")
    key = settings["rows"]
    for row in rows:
        row[key] = " ".join(row[name] for name in key.split("+"))
    only = [value.lstrip() for value in settings.get("only", "").split("|")]  # a line may go on with blanks
    values = only if settings.get("only") else sorted(dict.fromkeys(row[key] for row in rows),
        key=lambda value: [(0, float(word)) if re.fullmatch(r"[\d.]+", word) else (1, 0) for word in value.split()])
    body = []
    for value in values:
        mine = [row for row in rows if row[key] == value]
        body.append([value] + [cell(mine, e, w, f, settings["pick"]) for _, e, w, f in columns])
    body = [line for line in body if any(line[1:])]
    head = [settings.get("title", key.replace("+", ", "))] + [title for title, *_ in columns]
    if settings["across"]:
        body = [list(line) for line in zip(*([head] + body))]
        head, body = body[0], body[1:]
    when = ", ".join(sorted({f"{row['date']} {row['commit']}".strip() for row in rows}))
    lines = ["", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(line) + " |" for line in body]
    return lines + ["", f"([{os.path.basename(path)}](../bench/results/{path}), {when})"]


def figures(page, check):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    old = r"(?:\n(?:\|[^\n]*\n)+\n\(\[[^\n]*\]\([^\n]*\), [^\n]*\)\n)?"
    pattern = re.compile(r"(<!-- figures ((?:(?!-->).)*)-->\n)" + old, re.S)
    new = pattern.sub(lambda match: match[1] + "\n".join(table(match[2])) + "\n", text)
    if check and new != text:
        raise SystemExit(f"{page}: tables differ from bench/results; write them by bench/results.py figures {page}")
    if new != text:
        with open(page, "w", encoding="utf-8") as file:
            file.write(new)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["merge", "split", "figures"])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.what == "merge":
        merge(options.paths[0], options.paths[1:])
    elif options.what == "split":
        split(options.paths[:-1], options.paths[-1])
    else:
        for page in options.paths:
            figures(page, options.check)


if __name__ == "__main__":
    sys.exit(main())
