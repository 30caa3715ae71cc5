"""Times and memory of each operation on stores of growing size."""
import json
import math
import os
import statistics
import subprocess
import sys
import time

import plots
from figures import number
from jobs import program

# What is run beside `make`, each in a process of its own. Those that change the file come last.
PHASES = ["open", "page", "get", "history", "log", "past", "past loaded", "verify", "commit",
          "compact"]
# The operations as the page names them, what the documentation states, and the exponents that this
# allows: of the history's length and of the number of objects.
STATED = {
    "open": ("open, count", "O(1)", 0, 0),
    "page": ("first 200 by date, the first time", "O(log n + 200)", 0, 0),
    "page again": ("the same again", "O(log n + 200)", 0, 0),
    "get": ("an object by id, the first time", "O(log n)", 0, 0),
    "get again": ("the same again", "O(log n)", 0, 0),
    "commit": ("a deferred commit", "O(log n)", 0, 0),
    "history": ("100 transactions from the middle", "O(log n + 100)", 0, 0),
    "log": ("history of one object", "O(its changes + history / 64 KiB)", 1, 1),
    "past": ("as of the middle", "O(transactions back)", 1, 0),
    "past loaded": ("the same, everything loaded before", "O(transactions back)", 1, 0),
    "compact": ("compact", "O(file)", 1, 1),
    "verify": ("verify", "O(file)", 1, 1),
}
# How much steeper a fitted line may be before it is called worse: caches, and noise of one run.
TOLERANCE = 0.2
# A size that takes longer than this, in seconds, ends the row, unless the caller says otherwise.
LONGEST = 360


class Scale:
    """Milliseconds and megabytes, by the axis, the size and the operation."""

    def __init__(self):
        self.times = {}
        self.memory = {}
        self.sizes = {}
        self.notes = []

    def add(self, line):
        axis, size, phase = line["axis"], line["size"], line["phase"]
        name = phase.split(":")[0][3:]
        if size not in self.sizes.setdefault(axis, []):
            self.sizes[axis].append(size)
        if "value" in line:
            if name != "file":
                self.memory.setdefault((axis, name, size), []).append(line["value"])
        else:
            # Processor time; of a thing done where it does many.
            taken = (line["user_ms"] + line["sys_ms"]) / line["n"]
            self.times.setdefault((axis, name, size), []).append(taken)

    def points(self, table, axis, name):
        return [(size, statistics.median(table[axis, name, size]))
                for size in self.sizes.get(axis, []) if (axis, name, size) in table]


def slope(points):
    """The exponent of the power law through the points, by least squares of the logarithms."""
    points = [(math.log(x), math.log(y)) for x, y in points if y > 0]
    if len(points) < 2:
        return None
    mx = statistics.mean(x for x, _ in points)
    my = statistics.mean(y for _, y in points)
    return (sum((x - mx) * (y - my) for x, y in points)
            / sum((x - mx) ** 2 for x, _ in points))


def measure(largest, longest, rounds, folder, output):
    """Runs every operation on stores of 10^4 up to `largest` transactions, and objects."""
    scale = Scale()
    for axis in ("history", "objects"):
        size = 10_000
        while size <= largest:
            start = time.time()
            if not measure_size(scale, axis, size, rounds, folder, output):
                break
            taken = time.time() - start
            print(f"scale: {size:,} of {axis}: {taken:.0f} s", file=sys.stderr)
            if taken * 10 > longest and size * 10 <= largest:
                scale.notes.append(
                    f"{size * 10:,} of {axis}, which may take {longest} s: {size:,} took "
                    f"{taken:.0f}")
                break
            size *= 10
    for note in scale.notes:
        output.write(json.dumps({"note": note}) + "\n")
    return scale


def measure_size(scale, axis, size, rounds, folder, output):
    posts, operations = (100_000, size) if axis == "history" else (size, 20_000)
    file = os.path.join(folder, "scale.annals")
    command = [program("annals-benchmark"), "scale", file, "--durability", "deferred",
               "--posts", str(posts), "--operations", str(operations), "--phases"]
    try:
        # One operation after the other on one file, and the next round again, but for those that
        # leave another file behind. Large stores are asked once.
        again = rounds if size < 1_000_000 else 1
        for phase in ["make"] + PHASES[:-2] * again + PHASES[-2:]:
            done = subprocess.run(command + [phase], stdout=subprocess.PIPE, text=True)
            if done.returncode:
                print(f"scale: {phase} of {size:,} failed", file=sys.stderr)
                return False
            for line in map(json.loads, done.stdout.splitlines()):
                line.update(axis=axis, size=size)
                scale.add(line)
                output.write(json.dumps(line) + "\n")
            output.flush()
    finally:
        if os.path.exists(file):
            os.unlink(file)
    return True


def read(path):
    scale = Scale()
    with open(path, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if "axis" in line:
                scale.add(line)
            elif "note" in line:
                scale.notes.append(line["note"])
    return scale


def tables(scale, folder):
    """The page's part, with a picture for each axis."""
    text = []
    for place, (axis, title, fixed) in enumerate((
            ("history", "History", "100,000 objects inserted, then so many transactions of one"),
            ("objects", "Objects", "so many objects inserted, then 20,000 transactions of one"))):
        sizes = scale.sizes.get(axis)
        if not sizes:
            continue
        plot(scale, axis, title, folder)
        text += [f"### {title}: {fixed}", "",
                 f"![{title}: time and memory against size](benchmarks/scale-{axis}.svg)", ""]
        text += [
            "| | stated | " + " | ".join(plots.power(s) + ", ms" for s in sizes) + " | slope | "
            + " | ".join(plots.power(s) + ", MB" for s in sizes) + " | slope |",
            "|---|---|" + "---:|" * (2 * len(sizes) + 2)]
        for name in STATED:
            text.append(row(scale, axis, name, sizes, STATED[name][2 + place]))
        text.append("")
    if scale.notes:
        text += ["Left out: " + "; ".join(scale.notes) + ".", ""]
    return "\n".join(text)


def row(scale, axis, name, sizes, stated):
    times = dict(scale.points(scale.times, axis, name))
    memory = dict(scale.points(scale.memory, axis, name))
    steep, steep_memory = slope(list(times.items())), slope(list(memory.items()))
    worse = steep is not None and steep > stated + TOLERANCE
    mark = "**" if worse else ""
    cells = [STATED[name][0], STATED[name][1]]
    cells += [number(times.get(size)) for size in sizes]
    cells.append("–" if steep is None else f"{mark}{steep:.2f}{mark}")
    cells += [number(memory.get(size)) for size in sizes]
    cells.append("–" if steep_memory is None else f"{steep_memory:.2f}")
    return "| " + " | ".join(cells) + " |"


def plot(scale, axis, title, folder):
    def lines(table):
        found = []
        for name, colour in zip(STATED, plots.COLOURS):
            points = [(x, y) for x, y in scale.points(table, axis, name) if y > 0]
            if len(points) > 1:
                found.append((f"{name} {slope(points):.2f}", colour, points))
        return found

    plots.panels(
        os.path.join(folder, f"scale-{axis}.svg"),
        f"{title}: what each operation takes against size, with fitted slopes",
        "transactions" if axis == "history" else "objects",
        [("processor time, ms", lines(scale.times)), ("peak memory, MB", lines(scale.memory))])
