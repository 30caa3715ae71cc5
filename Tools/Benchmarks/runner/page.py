"""Writes Docs/Benchmarks.md and its pictures."""
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess

import goals
import plots
import scale as scaling
from figures import cpu, cpu_each, number, value, wall
from jobs import HERE, PEERS

PROGRAMS = {"Annals": "annals", "SQLite": "sqlite", "GRDB": "grdb", "LMDB": "lmdb",
            "RocksDB": "rocksdb"}


def texts():
    """What the page says, by the name of its part: `page.md`, in which "=== " begins a part."""
    with open(os.path.join(HERE, "runner", "page.md"), encoding="utf-8") as file:
        parts = file.read().split("=== ")[1:]
    return dict(part.split("\n", 1) for part in parts)


class Row:
    """A line of a table: a phase, or several whose times add up, of a job of each program.

    `own` names the phases by which Annals does the same, and `job` what follows the program's name
    in that of its job. A goal is a ratio to SQLite, as text."""

    def __init__(self, label, phases, job="", own=None, read=cpu, unit="ms", goal="", only=None,
                 form=""):
        self.label = label
        self.phases = phases if isinstance(phases, list) else [phases]
        self.own = [own] if isinstance(own, str) else own or self.phases
        self.job = job
        self.form = form
        self.read = read
        self.unit = unit
        self.goal = goal
        self.only = only

    def job_of(self, name):
        return PROGRAMS[name] + (self.form if name == "Annals" else "") + self.job

    def figures(self, f, name):
        """The figures by round; nothing of a program that does not do this."""
        if self.only and name not in self.only:
            return {}
        phases = self.own if name == "Annals" else self.phases
        return f.total(self.job_of(name), phases, self.read)

    def ratios(self, f):
        """The medians of the ratios to SQLite within a round."""
        base = self.figures(f, "SQLite")
        found = {}
        for name in PROGRAMS:
            mine = self.figures(f, name)
            ratios = [mine[k] / base[k] for k in mine if base.get(k)]
            if ratios:
                found[name] = statistics.median(ratios)
        return found

    def markdown(self, f):
        ratios = self.ratios(f)
        best = min(ratios.values(), default=None)
        cells = [self.label]
        for name in PROGRAMS:
            if name not in ratios:
                cells.append("–")
                continue
            middle = statistics.median(self.figures(f, name).values())
            ratio = f"{ratios[name]:.2f}" if ratios[name] >= 0.1 else f"{ratios[name]:.3f}"
            ratio = f"**{ratio}**" if ratios[name] == best else ratio
            unit = f" {self.unit}"
            cells.append(f"{ratio} ({number(middle)}{unit})")
        return "| " + " | ".join(cells + [self.goal]) + " |"


MICROSECONDS = "µs"


def wall_each(line):
    return line["wall_ms"] * 1e3 / line["n"]


INDEX, TREE = "box index", "R-tree"
GROUPS = [
    ("writing", "Writing", [
        Row("bulk insert, typed", goals.BULK, " durable", goal="0.10"),
        Row("bulk insert, by name", goals.BULK, " durable", goal="0.25", form=" dynamic",
            only=["Annals", "SQLite"]),
        Row("durable commit", goals.SINGLE, " durable", read=cpu_each, unit=MICROSECONDS,
            goal="0.50"),
        Row("durable commit, until it returns", goals.SINGLE, " durable", read=wall_each,
            unit=MICROSECONDS, goal="0.50"),
        Row("deferred commit", goals.SINGLE, read=cpu_each, unit=MICROSECONDS, goal="4 µs"),
    ]),
    ("reading", "Reading by date", [
        Row("all ids", "3a all ids by date, index", " queries"),
        Row("first 200 rows", "3b first 200, index", " queries", goal="0.17"),
        Row("200 rows at offset 50,000", "3c 200 at offset 50,000, index", " queries",
            goal="0.017"),
        Row("all rows", "3d all rows by date, index", " queries", goal="0.25"),
    ]),
    ("counting", "Counting, and boxes on the map", [
        Row("count per day", "4 count per day, index", " queries"),
        Row("boxes of 2 degrees, no index", "5 ten boxes of 2 degrees, scan", " queries"),
        Row("boxes of 0.2 degrees, no index", "5 ten boxes of 0.2 degrees, scan", " queries"),
        Row("boxes of 2 degrees, by an index", f"5 ten boxes of 2 degrees, {TREE}", " queries",
            own=f"5 ten boxes of 2 degrees, {INDEX}"),
        Row("boxes of 0.2 degrees, by an index", f"5 ten boxes of 0.2 degrees, {TREE}",
            " queries", own=f"5 ten boxes of 0.2 degrees, {INDEX}"),
    ]),
    ("history", "History", [
        Row("after the middle", goals.MIDDLE, goal="0.15"),
        Row("the whole history", "6a history over all"),
        Row("as of the middle: what differs", goals.PAST),
        Row("as of the middle, every object read", [goals.PAST, goals.PAST_ALL], goal="0.15"),
        Row("prune to the middle", goals.PRUNE, goal="0.25"),
    ]),
    ("opening", "Opening", [
        Row("to the first object, warm", goals.OPEN, goal="1.0"),
        Row("to the first 200 by date, warm", "9a open to first 200 by date (warm)"),
        Row("to the first object, cold", "9 open to first object (cold)", read=wall),
        Row("to the first 200 by date, cold", "9a open to first 200 by date (cold)", read=wall),
    ]),
    ("size", "Size and memory", [
        Row("file", "10b size after txs", own="10c size after close", read=value, unit="MB"),
        Row("file, compacted", "10b size after txs", own="10d compacted size", read=value,
            unit="MB"),
        Row("file, after pruning half", "10g size after prune", read=value, unit="MB"),
        Row("memory while writing", "10p peak memory over workload", read=value, unit="MB"),
        Row("memory after opening", "9c memory after open (warm)", read=value, unit="MB"),
    ]),
]

# What has nothing beside it: the label, where the figure is, and its unit.
ALONE = [
    ("a timeline of 102,136 dates with labels", "annals queries", "18 timeline, rows", cpu, "ms"),
    ("the same in another order", "annals queries", "18 timeline, in another order", cpu, "ms"),
    ("a live view of 100,000 rows follows a title", "annals live",
     "15 step of a view for a title", value, "µs"),
    ("… a date far away", "annals live", "15 step of a view for a far date", value, "µs"),
    ("… 1,000 dates changed at once, each", "annals live",
     "15 step of a view for 1,000 dates, a date", value, "µs"),
    ("a commit of one reference: what its index adds", "annals graph",
     "19 CPU of a reference index in a commit of one reference", value, "µs"),
    ("an import of one-change transactions, each", "annals import", "25 import, a transaction",
     cpu_each, "µs"),
    ("an export of them, each", "annals import", "25 export, a transaction", cpu_each, "µs"),
    ("durable commits of 64 threads, beside those of one", "annals concurrent",
     "12b commits a second over those of one, 64 threads", value, "times as many"),
    ("inserting 200 MB by stream, a MB", "annals stream", "24a insert 200 MB by stream, a MB",
     cpu_each, "µs"),
    ("reading it by stream, a MB", "annals stream", "24c read 200 MB by stream, a MB", cpu_each,
     "µs"),
]


def alone(f):
    """The table of what has nothing beside it."""
    rows = [(label, f.median(job, phase, read), unit) for label, job, phase, read, unit in ALONE]
    rows = [f"| {label} | {number(x)} {unit} |" for label, x, unit in rows if x is not None]
    return ["## Annals alone", "", "| | |", "|---|---:|"] + rows + [""] if rows else []


def machine(started, ended):
    """The rows that say where and when this was measured."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    swift = subprocess.run(["swift", "--version"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True).stdout
    swift = next((w for w in swift.split() if w[:1].isdigit()), "?")
    versions = [f"Swift {swift}"]
    for name, package in (("SQLite", "libsqlite3-0"), ("LMDB", "liblmdb0"),
                          ("RocksDB", "librocksdb7.8")):
        versions.append(f"{name} {debian_version(package)}")
    versions.insert(2, f"GRDB {grdb_version()}")
    rows = [
        ("machine",
         f"{len(names)} cores, {names[0] if names else '?'}, Linux {platform.release()}"),
        ("versions", ", ".join(versions)),
        ("date", datetime.date.today().isoformat()),
        ("load (one minute) at the beginning and end", f"{started:.1f} and {ended:.1f}"),
    ]
    return "\n".join(f"| {a} | {b} |" for a, b in rows)


def debian_version(package):
    if not shutil.which("dpkg-query"):
        return "?"
    found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return found.split("-")[0] or "?"


def grdb_version():
    path = os.path.join(PEERS["grdb"], "Package.resolved")
    if not os.path.exists(path):
        return "–"
    with open(path, encoding="utf-8") as file:
        pins = json.load(file)["pins"]
    return next((p["state"]["version"] for p in pins if p["identity"] == "grdb.swift"), "?")


def write(f, scale, out, run):
    """Writes the page and the pictures into a folder. `run` says how it was measured."""
    pictures = os.path.join(out, "benchmarks")
    os.makedirs(pictures, exist_ok=True)
    said = texts()
    text = [said["head"].format(
        command=run["command"], rounds=run["rounds"], durable=run["durable"],
        machine=machine(run["started"], run["ended"]))]
    for name, title, rows in GROUPS:
        rows = [row for row in rows if row.ratios(f)]
        if not rows:
            continue
        text += [f"## {title}", "", said[name],
                 "| | " + " | ".join(PROGRAMS) + " | goal |", "|---|" + "---:|" * 6]
        text += [row.markdown(f) for row in rows]
        text += ["", f"![{title}, SQLite = 1](benchmarks/{name}.svg)", ""]
        plots.dots(
            os.path.join(pictures, name + ".svg"), f"{title}: SQLite = 1",
            "logarithmic; further left is " + ("smaller" if name == "size" else "faster"),
            [(row.label, row.ratios(f)) for row in rows])
    text += alone(f)
    if scale and scale.sizes:
        text += [said["scale"], scaling.tables(scale, pictures)]
    text += [said["foot"]]
    with open(os.path.join(out, "Benchmarks.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(text).rstrip() + "\n")


BEGIN, END = "<!-- goals: written by Tools/bench -->", "<!-- end of goals -->"


def write_goals(f, path, run):
    """Puts the table of goals into a page, between two comments."""
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
        after = rest.split(END)[1]
    load = f"{run['started']:.1f} to {run['ended']:.1f}"
    rows = [f"By `{run['command']}`, {datetime.date.today().isoformat()}, at a load of {load}; "
            "medians, and least to most of the rounds.", "", "| | goal | now | least to most | |", "|---|---:|---:|---:|---|"]
    for goal in goals.speed_goals(f):
        if goal.median is not None:
            rows.append(
                f"| {goal.name} | {goal.limit_text} | {number(goal.median)} | "
                f"{number(goal.values[0])} to {number(goal.values[-1])} | "
                f"{'met' if goal.is_met else '**missed**'} |")
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + "\n\n" + "\n".join(rows) + "\n\n" + END + after)
