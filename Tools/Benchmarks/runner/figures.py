"""What the programs printed: by job, phase and round, with ratios taken within a round."""
import json
import statistics


class Figures:
    def __init__(self):
        self.lines = {}
        self.jobs = []

    def add(self, line):
        job = line["job"]
        if job not in self.jobs:
            self.jobs.append(job)
        self.lines.setdefault((job, line["phase"]), {})[line["round"]] = line

    @staticmethod
    def read(path):
        figures = Figures()
        with open(path, encoding="utf-8") as lines:
            for line in map(json.loads, lines):
                if "job" in line:
                    figures.add(line)
        return figures

    def each(self, job, phase, read):
        """The figures of the rounds; `read` takes one out of a line."""
        return {k: read(v) for k, v in self.lines.get((job, phase), {}).items()}

    def median(self, job, phase, read):
        values = list(self.each(job, phase, read).values())
        return statistics.median(values) if values else None

    def total(self, job, phases, read):
        """The sums of several phases, by round; only of rounds that have all."""
        parts = [self.each(job, phase, read) for phase in phases]
        return {k: sum(part[k] for part in parts)
                for k in parts[0] if all(k in part for part in parts)}

    def ratios(self, job, phases, other, other_phases, read):
        mine = self.total(job, phases, read)
        theirs = self.total(other, other_phases, read)
        return {k: mine[k] / theirs[k] for k in mine if theirs.get(k)}

    def ratio(self, job, phase, other, other_phase, read):
        return self.ratios(job, [phase], other, [other_phase], read)


def wall(line):
    return line["wall_ms"]


def cpu(line):
    """User and system time together."""
    return line["user_ms"] + line["sys_ms"]


def cpu_each(line):
    """Microseconds of processor time for each thing done."""
    return cpu(line) * 1e3 / max(line["n"], 1)


def rate_of_cpu(line):
    """Things done in a second of processor time."""
    return line["n"] / cpu(line) * 1e3


def value(line):
    return line["value"]


def number(x):
    if x is None:
        return "–"
    if abs(x) >= 1000:
        return f"{x:,.0f}"
    if abs(x) >= 100:
        return f"{x:.0f}"
    return f"{x:.3g}" if abs(x) >= 0.001 else f"{x:.1e}"
