"""The stores that the tests show, and the programs that serve them."""

import datetime
import json
import os
import pathlib
import re
import subprocess
import threading

import mock_server
import serve_page

ROOT = pathlib.Path(__file__).resolve().parents[3]
DIARY = ROOT / "Fixtures" / "diary.jsonl"
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)>"


def hostile_lines():
    """A store whose names and values are markup, very long, or not left to right."""
    entity = {"name": "Note", "number": 1, "display": "title", "attributes": [
        {"name": "id", "number": 1, "type": "string", "optional": False, "unique": True},
        {"name": "title", "number": 2, "type": "string"}, {"name": "body", "number": 3, "type": "string"}]}
    texts = [HOSTILE, "x" * 300, "word " * 4000, "\u202eright to left\u202c", "a\nb\tc", "'; --", "&lt;b&gt;",
             "日本語" * 100, "👩‍👩‍👧‍👦" * 50, ""]
    yield {"schema": {"entities": [entity]}}
    for n, text in enumerate(texts, 1):
        yield {"n": 2 * n - 1, "author": f"{HOSTILE}{n}", "timestamp": f"2026-01-{n:02}T10:00:00Z",
               "message": text[:3000] or "none", "context": HOSTILE,
               "changes": [{"op": "insert", "entity": "Note", "id": f"n{n}", "set": {"title": text[:500], "body": text}}]}
        yield {"n": 2 * n, "author": "plain", "timestamp": f"2026-01-{n:02}T11:00:00Z",
               "changes": [{"op": "update", "entity": "Note", "id": f"n{n}", "set": {"body": text + " more"}}]}


def empty_lines():
    yield {"schema": {"entities": [{"name": "Post", "number": 1, "display": "title", "attributes": [
        {"name": "title", "number": 1, "type": "string"}]}]}}


def web_lines():
    """Entities that refer past others, back, and to themselves; and people with long names on close dates."""
    def entity(number, name, *references):
        return {"name": name, "number": number, "attributes": [
            {"name": "id", "number": 1, "type": "string", "optional": False, "unique": True},
            {"name": "name", "number": 2, "type": "string"}, {"name": "start", "number": 3, "type": "date"}],
            "relationships": [{"name": f"to{to}", "number": 4 + place, "to": to} for place, to in enumerate(references)]}
    yield {"schema": {"entities": [entity(1, "Person"), entity(2, "Folder", "Folder"), entity(3, "Issue"),
                                   entity(4, "File", "Folder", "Person", "Issue"),
                                   entity(5, "Commit", "File", "Person", "Issue")]}}
    for n in range(1, 20):
        yield {"n": n, "author": "Ann", "timestamp": f"2026-01-01T10:{n:02}:00Z", "changes": [
            {"op": "insert", "entity": "Person", "id": f"p{n}",
             "set": {"name": f"Henrique Maximilian {n}", "start": f"2026-01-01T10:{n * 3:02}:{n * 2 + 10}Z"}}]}


def lives_lines():
    """One object of 250 versions, and one that is deleted."""
    yield {"schema": {"entities": [{"name": "Note", "number": 1, "display": "title", "attributes": [
        {"name": "id", "number": 1, "type": "string", "optional": False, "unique": True},
        {"name": "title", "number": 2, "type": "string"}]}]}}
    for n in range(1, 253):
        change = {"op": "update", "entity": "Note", "id": "n1", "set": {"title": f"Title {n}"}}
        if n in (1, 251):
            change = {"op": "insert", "entity": "Note", "id": f"n{1 if n == 1 else 2}", "set": {"title": "Title"}}
        elif n == 252:
            change = {"op": "delete", "entity": "Note", "id": "n2"}
        yield {"n": n, "author": "Ann", "timestamp": f"2026-01-01T{n // 60:02}:{n % 60:02}:00Z", "changes": [change]}


def huge_lines(count=1_000_000):
    """That many transactions of five authors: an entry in ten is new, the others change what is there."""
    yield {"schema": {"entities": [{"name": "Entry", "number": 1, "display": "title", "attributes": [
        {"name": "id", "number": 1, "type": "string", "optional": False, "unique": True},
        {"name": "title", "number": 2, "type": "string"}, {"name": "start", "number": 3, "type": "string"}]}]}}
    first = datetime.datetime(2016, 1, 1)
    for n in range(1, count + 1):
        time = first + datetime.timedelta(seconds=300 * n)
        entry = (n - 1) // 10
        if n % 10 == 1:
            values = {"title": f"Entry {entry}", "start": time.date().isoformat()}
            change = {"op": "insert", "entity": "Entry", "id": f"e{entry}", "set": values}
        else:
            # One that was there long before.
            change = {"op": "update", "entity": "Entry", "id": f"e{n * 7919 % (entry + 1)}", "set": {"title": f"Title {n}"}}
        yield {"n": n, "author": f"author {n % 5}", "timestamp": time.isoformat() + "Z", "changes": [change]}


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(each) + "\n" for each in lines)
    return path


class MockServed:
    """The mock server in a thread of the tests."""

    isMock = True

    def __init__(self, path, damaged=False, rows=0):
        self.server, self.address = mock_server.serve(path)
        self.handler = self.server.RequestHandlerClass
        self.handler.isDamaged = damaged
        self.handler.rows = rows
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def write(self, title):
        store = self.handler.store
        store.add({"author": "Zoe", "timestamp": "2020-01-05T10:00:00Z", "message": "while you look", "changes": [
            {"op": "insert", "entity": "Entry", "id": f"live{store.head}", "set": {"title": title, "start": "2020-01-05"}}]})

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Served:
    """annals-serve on a file or folder."""

    isMock = False

    def __init__(self, serve, annals, path):
        self.annals, self.path = annals, path
        self.process = subprocess.Popen([serve, str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = ""
        for line in self.process.stdout:
            said += line
            found = re.search(r"http://\S+", line)
            if found:
                self.address = found.group(0)
                break
        else:
            raise AssertionError(f"annals-serve did not print an address: {said}")
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        self.passing = None
        if os.environ.get("PAGE") == "folder":
            self.passing, self.address = serve_page.serve(self.address)
            threading.Thread(target=self.passing.serve_forever, daemon=True).start()

    def write(self, title):
        subprocess.run([self.annals, "put", str(self.path), f"Entry/live{os.urandom(4).hex()}", f"title={title}",
                        "start=2020-01-05", "--author", "Zoe", "--message", "while you look"], check=True, capture_output=True)

    def close(self):
        if self.passing:
            self.passing.shutdown()
            self.passing.server_close()
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()


class Stores:
    """Makes each store once, in a folder of its own, and serves it."""

    def __init__(self, folder, serve=None, annals=None):
        self.folder, self.programs = pathlib.Path(folder), (serve, annals)
        self.made = {}

    @property
    def isMock(self):
        return self.programs[0] is None

    def file(self, name):
        if name in self.made:
            return self.made[name]
        made = {"hostile": hostile_lines, "empty": empty_lines, "huge": huge_lines, "lives": lives_lines, "web": web_lines}.get(name)
        lines = write_lines(self.folder / f"{name}.jsonl", made()) if made else DIARY
        if not self.isMock:
            store = self.folder / f"{name}.annals"
            done = subprocess.run([self.programs[1], "import", str(store), str(lines)], capture_output=True, text=True)
            if done.returncode != 0:
                raise AssertionError(f"annals import: {done.stdout}{done.stderr}")
            lines = store
        self.made[name] = lines
        return lines

    def serve(self, name):
        return self.serve_path(self.file(name))

    def serve_path(self, path):
        return MockServed(path) if self.isMock else Served(*self.programs, path)

    def damaged(self):
        """A store with a byte flipped in the middle of its history."""
        if self.isMock:
            return MockServed(self.file("diary"), damaged=True)
        data = bytearray(self.file("diary").read_bytes())
        data[14000] ^= 0xFF
        return self.raw("damaged.annals", bytes(data))

    def raw(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return Served(*self.programs, path)
