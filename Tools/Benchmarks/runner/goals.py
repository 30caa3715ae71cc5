"""The goals, and how each is measured."""
import statistics

from figures import cpu, cpu_each, number, rate_of_cpu, value, wall

# The file of the workload with its history in SQLite, in bytes, that sizes are compared with.
SQLITE_BYTES = 38.2e6
MEBIBYTE = 1048576.0
BULK = "1 bulk insert"
SINGLE = "2 single-object txs"
OPEN = "9 open to first object (warm)"
MIDDLE = "6 history after mid token"
PAST = "7 as of the middle"
PAST_ALL = "7b then all objects"
PRUNE = "8 prune to the middle"


def of_sqlite(line):
    return line["value"] * MEBIBYTE / SQLITE_BYTES


class Goal:
    """A figure that is to be at most, or at least, so much."""

    def __init__(self, name, figures, limit, unit, least=False):
        self.name = name
        self.values = sorted(figures.values())
        self.limit = limit
        self.unit = unit
        self.least = least

    @property
    def median(self):
        return statistics.median(self.values) if self.values else None

    @property
    def is_met(self):
        if self.median is None:
            return None
        return self.median >= self.limit if self.least else self.median <= self.limit

    @property
    def limit_text(self):
        return f"{'≥' if self.least else '≤'} {number(self.limit)} {self.unit}"


def speed_goals(f):
    """The goals of speed beside SQLite; processor time unless the name says otherwise."""

    def times(phase):
        return f.ratio("sqlite queries", phase, "annals queries", phase, cpu)

    def same(job, other, phase, read=cpu):
        return f.ratio(job, phase, other, phase, read)

    return [
        Goal("bulk insert of 100,000, typed", same("annals durable", "sqlite durable", BULK),
             0.10, "× SQLite"),
        Goal("bulk insert of 100,000, by name",
             same("annals dynamic durable", "sqlite durable", BULK), 0.25, "× SQLite"),
        Goal("durable commit of one object", same("annals durable", "sqlite durable", SINGLE),
             0.50, "× SQLite"),
        Goal("durable commit of one object, time until it returns",
             same("annals durable", "sqlite durable", SINGLE, wall), 0.50, "× SQLite"),
        Goal("durable commit of one object, time until it returns, beside the raw append",
             same("annals durable", "raw-append", SINGLE, wall), 1.05, "× raw append"),
        Goal("deferred commit of one object", f.each("annals", SINGLE, cpu_each), 4, "µs"),
        Goal("first 200 rows by date", times("3b first 200, index"), 6, "times faster", True),
        Goal("200 rows at offset 50,000", times("3c 200 at offset 50,000, index"), 60,
             "times faster", True),
        Goal("all rows by date", times("3d all rows by date, index"), 4, "times faster", True),
        Goal("history after the middle, every value", same("annals", "sqlite", MIDDLE), 0.15,
             "× SQLite"),
        Goal("as of the middle, every object read",
             f.ratios("annals", [PAST, PAST_ALL], "sqlite", [PAST, PAST_ALL], cpu), 0.15,
             "× SQLite"),
        Goal("prune half the history, give the space back", same("annals", "sqlite", PRUNE),
             0.25, "× SQLite"),
        Goal("open to the first object", same("annals", "sqlite", OPEN), 1.0, "× SQLite"),
        Goal("open to the first object, ten times the history",
             f.ratio("annals long", OPEN, "sqlite", OPEN, cpu), 1.0, "× SQLite"),
        Goal("step of a live view for a title",
             f.each("annals live", "15 step of a view for a title", value), 1, "µs"),
        Goal("step of a live view for a far date",
             f.each("annals live", "15 step of a view for a far date", value), 1, "µs"),
        Goal("import of one-change transactions, a second of processor time",
             f.each("annals import", "25 import, a transaction", rate_of_cpu), 100000,
             "a second", True),
        Goal("200 MB by stream: memory of an insert",
             f.each("annals stream", "24p insert-stream: peak memory over the start", value), 64,
             "MB"),
        Goal("200 MB by stream: memory of a read",
             f.each("annals stream", "24p read-stream: peak memory over the start", value), 64,
             "MB"),
    ]


def other_goals(f):
    """Older goals, of what the peers do not have or do otherwise."""

    def value_of(job, phase, limit, unit, name, least=False):
        return Goal(name, f.each(job, phase, value), limit, unit, least)

    def boxes(name, way, other, limit):
        return Goal(
            f"boxes of {name} degrees, {way}",
            f.ratio("sqlite queries", f"5 ten boxes of {name} degrees, {other}",
                    "annals queries", f"5 ten boxes of {name} degrees, {way}", cpu),
            limit, f"times faster than SQLite's {other}", True)

    consumer = f.each("annals live", "16 advance and commit", value)
    without = f.each("annals live", "16 commit of a title, no consumer", value)
    return [
        value_of("annals concurrent", "12b commits a second over those of one, 8 threads", 3.5,
                 "× one thread", "durable commits, 8 threads", True),
        value_of("annals concurrent", "12b commits a second over those of one, 64 threads", 6,
                 "× one thread", "durable commits, 64 threads", True),
        value_of("annals processes", "13b commits a second over one process's, 4 processes", 0.7,
                 "× one process", "durable commits, 4 processes", True),
        value_of("annals processes", "13 wait for a commit, 99th percentile, 4 processes", 50,
                 "ms", "wait for a commit, 4 processes, 99th percentile"),
        value_of("annals processes",
                 "14 begin of a commit to its arrival elsewhere, 99th percentile", 50, "ms",
                 "arrival of a commit in another process, 99th percentile"),
        Goal("sealed history", f.each("annals", "10e sealed history", of_sqlite), 0.16,
             "× 38.2 MB"),
        Goal("compacted file", f.each("annals", "10d compacted size", of_sqlite), 0.30,
             "× 38.2 MB"),
        Goal("live file", f.each("annals", "10c size after close", of_sqlite), 0.45, "× 38.2 MB"),
        value_of("annals", "9e memory a post (warm)", 250, "bytes", "loaded memory a post"),
        boxes("2", "scan", "scan", 10), boxes("0.2", "scan", "scan", 10),
        boxes("2", "box index", "R-tree", 1), boxes("0.2", "box index", "R-tree", 1),
        Goal("commits beside a snapshot", f.ratio(
            "annals queries", "3s 1,000 commits, snapshot: one held", "annals queries",
            "3s 1,000 commits, snapshot: none held again", cpu), 2, "× without"),
        Goal("a consumer's advance and what it adds to the next commit",
             {k: x - without[k] for k, x in consumer.items() if k in without}, 2, "µs"),
        value_of("annals graph", "19 CPU of a reference index in a bulk insert, an entry", 2, "µs",
                 "a reference index in a bulk insert, an entry"),
        value_of("annals graph", "19 CPU of a reference index in a commit of one reference", 2,
                 "µs", "a reference index in a commit of one reference"),
        value_of("annals graph", "19 memory of a reference index, an entry", 24, "bytes",
                 "memory of a reference index, an entry"),
        value_of("annals graph", "20 cascade over the deletes alone", 2, "× the deletes",
                 "a cascade over 100,000 objects"),
        value_of("annals graph", "21 ids of an inverse among a million", 10, "µs",
                 "an inverse of one object among a million"),
        value_of("annals graph", "23 an edit over a closure, 10,000 sets", 1.2, "× a closure",
                 "an edit of 10,000 properties in an editing context"),
        value_of("annals large", "11b file over values", 1.05, "× values", "large values: file"),
        Goal("large values: open", f.each("annals large", "11c open", wall), 10, "ms"),
        value_of("annals large", "11d memory after open", 20, "MB",
                 "large values: memory until one is read"),
    ]


def print_goals(f):
    """Prints every goal that was measured. True if one is missed."""
    rows = [("", "measured", "least..most", "goal", "")]
    missed = False
    for goal in speed_goals(f) + other_goals(f):
        if goal.median is None:
            continue
        missed = missed or not goal.is_met
        rows.append((
            goal.name, number(goal.median),
            f"{number(goal.values[0])}..{number(goal.values[-1])}", goal.limit_text,
            "met" if goal.is_met else "MISSED"))
    print_table(rows)
    return missed


def print_figures(f):
    """Prints the median of everything that was measured."""
    rows = [("phase", "program", "wall ms", "CPU ms", "CPU µs each")]
    for phase in sorted({p for _, p in f.lines}):
        for job in f.jobs:
            lines = list(f.lines.get((job, phase), {}).values())
            if not lines:
                continue
            if "value" in lines[0]:
                middle = number(statistics.median(map(value, lines))) + " " + lines[0]["unit"]
                rows.append((phase, job, middle, "", ""))
            else:
                rows.append((phase, job) + tuple(
                    number(statistics.median(map(read, lines)))
                    for read in (wall, cpu, cpu_each)))
    print_table(rows)


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        print("  ".join(cells).rstrip())
