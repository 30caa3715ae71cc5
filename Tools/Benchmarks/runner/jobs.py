"""Which programs are run, in which order, on which files."""
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PEERS = {
    "grdb": os.path.join(HERE, "Peers", "GRDB"),
    "lmdb": os.path.join(HERE, "Peers", "KeyValue"),
    "rocksdb": os.path.join(HERE, "Peers", "KeyValue"),
}
DROP_CACHES = "/proc/sys/vm/drop_caches"
# Single transactions that are durable, where those of the other phases are not. How long a sync
# takes changes from minute to minute, so they are done in parts, with all programs in turn in each.
DURABLE_OPERATIONS = 1000
DURABLE_PARTS = 3


def program(name):
    """The path of a program; None if it was not built."""
    peer = name.split("-")[0]
    folder = PEERS.get(peer, HERE)
    path = os.path.join(folder, ".build", "release", name)
    return path if os.path.exists(path) else None


class Job:
    """Commands that belong together: one after the other, on files of their own. A command is the
    words, what is added to the names of its phases, and whether the disk's cache is dropped."""

    def __init__(self, name, group, *commands, once=False):
        self.name = name
        self.group = group
        self.commands = commands
        self.once = once


def posts_jobs(folder):
    """The workload unsynced, what is read of it, opening it in a new process, pruning it."""
    jobs = []
    for name, words in (
            ("annals", ["--durability", "deferred"]), ("sqlite", ["--sync", "normal"]),
            ("grdb", ["--sync", "normal"]), ("lmdb", ["--sync", "off"]),
            ("rocksdb", ["--sync", "off"])):
        path = program("annals-benchmark" if name == "annals" else name + "-history")
        if not path:
            continue
        file = os.path.join(folder, name + "-posts")
        phases = "write,history,past" + (",sizes,replay" if name == "annals" else "")
        opened = [path, "open", file] + words
        jobs.append(Job(
            name, "posts",
            ([path, "run", file] + words + ["--phases", phases], "", False),
            (opened, " (warm)", False), (opened, " (cold)", True),
            ([path, "run", file] + words + ["--phases", "prune"], "", False)))
    return jobs


def durable_jobs(folder, operations):
    """Single transactions, each durable, and the bulk insert before them."""
    jobs = []
    count = ["--operations", str(operations)]
    for name, words in (
            ("annals", []), ("annals exclusive", ["--lock", "exclusive"]),
            ("annals dynamic", ["--form", "dynamic"]), ("sqlite", []), ("grdb", []),
            ("lmdb", []), ("rocksdb", [])):
        first = name.split()[0]
        path = program("annals-benchmark" if first == "annals" else first + "-history")
        if path:
            file = os.path.join(folder, name.replace(" ", "-") + "-durable")
            jobs.append(Job(
                name + " durable", "durable",
                ([path, "run", file, "--phases", "write"] + count + words, "", False)))
    jobs.append(Job(
        "raw-append", "durable",
        ([program("raw-append"), os.path.join(folder, "raw.bin")] + count, "", False)))
    return jobs


def forms_jobs(folder):
    """Other ways to write, unsynced."""
    path = program("annals-benchmark")
    deferred = ["--durability", "deferred", "--phases", "write"]
    return [
        Job("annals " + name, "forms",
            ([path, "run", os.path.join(folder, "forms")] + deferred + words, "", False))
        for name, words in (
            ("deferred exclusive", ["--lock", "exclusive"]),
            ("deferred closures", ["--form", "closures"]),
            ("deferred dynamic", ["--form", "dynamic"]))]


def queries_jobs(folder):
    jobs = []
    for name in ("annals", "sqlite", "grdb", "lmdb", "rocksdb"):
        path = program("annals-benchmark" if name == "annals" else name + "-history")
        if path:
            words = ["--durability", "deferred"] if name == "annals" else []
            jobs.append(Job(
                name + " queries", "queries",
                ([path, "queries", os.path.join(folder, name + "-queries")] + words, "", False)))
    return jobs


def own_jobs(folder):
    """What only Annals is asked for."""
    path = program("annals-benchmark")

    def file(name):
        return os.path.join(folder, name + ".annals")

    def stream(phase):
        return [path, "stream", file("large"), "--phases", phase], "", False

    long = ["--operations", "200000", "--durability", "deferred", "--phases", "write"]
    return [
        Job("annals live", "live",
            ([path, "live", file("live"), "--durability", "deferred"], "", False)),
        Job("annals import", "import", ([path, "import", file("import")], "", False)),
        Job("annals graph", "graph", ([path, "graph", "-"], "", False)),
        Job("annals long", "long", ([path, "run", file("long")] + long, "", False),
            ([path, "open", file("long")], " (warm)", False)),
        Job("annals concurrent", "concurrent",
            ([path, "concurrent", file("concurrent")], "", False)),
        Job("annals processes", "processes",
            ([path, "processes", file("processes")], "", False)),
        Job("annals large", "large",
            ([path, "large", file("large"), "--durability", "deferred"], "", False),
            ([path, "reopen-large", file("large")], "", False), once=True),
        Job("annals stream", "stream", *(stream(phase) for phase in (
            "insert-stream", "read-stream", "read-range", "insert-whole", "read-whole")),
            once=True),
    ]


def all_jobs(folder, operations):
    return (posts_jobs(folder) + durable_jobs(folder, operations) + forms_jobs(folder)
            + queries_jobs(folder) + own_jobs(folder))


def schedule(chosen, number):
    """What a round runs, in its order: jobs, each with the number that its figures get."""
    def rotated(some, by):
        first = by * 3 % max(len(some), 1)
        return some[first:] + some[:first]

    durable = [job for job in chosen if job.group == "durable"]
    # What takes a gigabyte is done once.
    others = [job for job in chosen if job.group != "durable" and not (job.once and number)]
    order = [(job, number * DURABLE_PARTS) for job in rotated(others, number)]
    for part in range(DURABLE_PARTS):
        key = number * DURABLE_PARTS + part
        place = len(order) * part // DURABLE_PARTS
        order[place:place] = [(job, key) for job in rotated(durable, key)]
    return order


def drop_caches():
    """Forgets what the system has read of files. False if it may not."""
    try:
        os.sync()
        with open(DROP_CACHES, "w", encoding="utf-8") as file:
            file.write("3\n")
        return True
    except OSError:
        return False


def run(job, round_number, figures, output):
    """Runs a job, and keeps what it prints. False if a command failed."""
    for command, tag, cold in job.commands:
        if cold and not drop_caches():
            continue
        start = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        taken = (time.perf_counter() - start) * 1e3
        if done.returncode:
            print(f"failed with {done.returncode}: {' '.join(command)}", file=sys.stderr)
            return False
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if tag and lines:
            lines.append(dict(lines[0], phase="9p whole process", n=1, wall_ms=taken, user_ms=0,
                              sys_ms=0))
        for line in lines:
            line["phase"] += tag
            line.update(job=job.name, round=round_number)
            figures.add(line)
            output.write(json.dumps(line) + "\n")
        output.flush()
    return True


def build():
    """Builds Annals' programs, and the peers that can be built; says which cannot."""
    swift_build(HERE, "the benchmarks", needed=True)
    for name, folder in (("LMDB and RocksDB", PEERS["lmdb"]), ("GRDB", PEERS["grdb"])):
        swift_build(folder, name, needed=False)
    for name, wanted in (
            ("sqlite", "sqlite3.h (libsqlite3-dev)"), ("lmdb", "lmdb.h (liblmdb-dev)"),
            ("rocksdb", "rocksdb/c.h (librocksdb-dev)"), ("grdb", "GRDB and sqlite3.h")):
        if not program(name + "-history"):
            print(f"bench: {name} is left out: it needs {wanted}", file=sys.stderr)


def swift_build(folder, name, needed):
    # Read anew: a manifest asks which headers are there, and one may have come since.
    os.utime(os.path.join(folder, "Package.swift"))
    done = subprocess.run(["swift", "build", "-c", "release", "--manifest-cache", "none",
                           "--package-path", folder],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        text = done.stdout if needed else "\n".join(done.stdout.splitlines()[-3:])
        print(f"{text}\nbench: {name} did not build", file=sys.stderr)
        if needed:
            sys.exit(2)
