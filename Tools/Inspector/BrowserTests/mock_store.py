"""A store for the mock server: the history of a file of JSON Lines, replayed in memory.

The lines are those that `annals import` reads: a schema, then one transaction a line.
"""

import datetime
import json
import re

UNITS = {"hour": 13, "day": 10, "month": 7, "year": 4}


def microseconds(text):
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    delta = moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (delta.days * 86400 + delta.seconds) * 1_000_000 + delta.microseconds


class Fault(Exception):
    def __init__(self, status, code, message, **more):
        super().__init__(message)
        self.status = status
        self.error = {"code": code, "message": message, **more}


class MockStore:
    """The whole history, with states by number."""

    def __init__(self, path):
        self.path = str(path)
        self.entities = {}
        self.transactions = []
        self.rows = {}
        self.keys = {}
        self.counts = {}
        self.states = {0: {}}
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                self.add(json.loads(line))

    def add(self, line):
        change = line.get("schema") or line.get("schemaChange")
        if change is not None:
            for entity in change["entities"]:
                self.entities[entity["name"]] = entity
            return
        line["n"] = len(self.transactions) + 1
        line["us"] = microseconds(line["timestamp"])
        for change in line["changes"]:
            key = (change["entity"], change["id"])
            if key not in self.rows:
                row = self.counts.get(key[0], 0) + 1
                self.counts[key[0]] = row
                self.rows[key] = row
                self.keys[(key[0], row)] = key[1]
            if change["op"] != "insert" and "was" not in change:
                before = self.state(len(self.transactions)).get(key, {})
                names = before if change["op"] == "delete" else change["set"]
                change["was"] = {name: before.get(name) for name in names}
        self.transactions.append(line)

    @property
    def head(self):
        return len(self.transactions)

    def state(self, number):
        """Every object by (entity, key) as of a transaction."""
        if number in self.states:
            return self.states[number]
        near = max(n for n in list(self.states) if n <= number)
        state = {key: dict(values) for key, values in self.states[near].items()}
        for transaction in self.transactions[near:number]:
            for change in transaction["changes"]:
                key = (change["entity"], change["id"])
                if change["op"] == "delete":
                    state.pop(key, None)
                else:
                    state.setdefault(key, {}).update(change.get("set", {}))
        if len(self.states) > 40:
            self.states = {0: {}}
        self.states[number] = state
        return state

    def number(self, token):
        if token in (None, "", "head"):
            return self.head
        if token == "base":
            return 0
        if re.fullmatch(r"\d+", token):
            if int(token) > self.head:
                raise Fault(404, "notFound", f"there is no transaction {token}; head is {self.head}",
                            parameter="at")
            return int(token)
        if re.fullmatch(r"\d{4}(-\d\d(-\d\d)?)?", token):
            return sum(1 for each in self.transactions if each["timestamp"][:len(token)] <= token)
        raise Fault(400, "invalidArgument", f"{token} is no TOKEN", parameter="at", column=1)

    def properties(self, entity):
        if entity not in self.entities:
            raise Fault(404, "notFound", f"there is no entity {entity}", parameter="entity")
        found = self.entities[entity]
        return found["attributes"] + [
            {**each, "type": "objects" if each.get("toMany") else "object"}
            for each in found.get("relationships", [])]

    # Values as documents

    def ref(self, entity, key, number):
        state = self.state(number)
        values = state.get((entity, key))
        row = self.rows.get((entity, key), 0)
        ref = {"id": f"{entity}#{row}", "name": f"{entity}/{key}", "entity": entity, "row": row,
               "exists": values is not None}
        label = (values or {}).get(self.entities[entity].get("display", ""))
        if label:
            ref["label"] = str(label)[:80]
        return ref

    def find(self, text):
        name, mark, rest = text.partition("#")
        if mark and rest.isdigit() and (name, int(rest)) in self.keys:
            return name, self.keys[(name, int(rest))]
        name, _, rest = text.partition("/")
        if (name, rest) in self.rows:
            return name, rest
        raise Fault(404, "notFound", f"there is no object {text}", parameter="object")

    def cell(self, entity, name, value, number, cut=200):
        if value is None:
            return {"kind": "null", "text": ""}
        for relationship in self.entities[entity].get("relationships", []):
            if relationship["name"] == name:
                if isinstance(value, list):
                    refs = [self.ref(relationship["to"], each, number) for each in value]
                    return {"kind": "objects", "text": str([r["name"] for r in refs]),
                            "objects": refs[:10], "count": len(refs)}
                ref = self.ref(relationship["to"], value, number)
                return {"kind": "object", "text": ref["name"], "object": ref}
        kinds = {each["name"]: each["type"] for each in self.entities[entity]["attributes"]}
        if isinstance(value, bool):
            return {"kind": "bool", "text": "true" if value else "false"}
        if isinstance(value, (int, float)):
            kind = "int" if isinstance(value, int) else "double"
            return {"kind": kind, "text": json.dumps(value)}
        if isinstance(value, (dict, list)):
            text = json.dumps(value)
            return {"kind": "json", "text": text[:cut], "length": len(text), "isCut": len(text) > cut}
        kind = kinds.get(name, "string")
        if kind == "date":
            return {"kind": "date", "text": value, "us": microseconds(value)}
        return {"kind": kind, "text": value[:cut], "length": len(value.encode()),
                "isCut": len(value) > cut}

    def header(self, number):
        found = self.transactions[number - 1]
        kept = ("timestamp", "us", "author", "context", "process", "pid", "message")
        header = {name: found[name] for name in kept if name in found}
        return {"number": number, **header, "changes": len(found["changes"])}

    def moment(self, number):
        moment = {"number": number, "head": self.head, "base": 0}
        if number:
            found = self.transactions[number - 1]
            for name in ("timestamp", "author", "context", "message"):
                if name in found:
                    moment[name] = found[name]
        return moment

    def change(self, change, number, cut=200):
        entity = change["entity"]
        properties = []
        names = change.get("set") if change["op"] != "delete" else change.get("was", {})
        for name in names or {}:
            shown = {"property": name}
            if change["op"] != "insert":
                shown["before"] = self.cell(entity, name, change["was"].get(name), number - 1, cut)
            if change["op"] != "delete":
                shown["after"] = self.cell(entity, name, change["set"][name], number, cut)
            properties.append(shown)
        ref = self.ref(entity, change["id"], number if change["op"] != "delete" else number - 1)
        return {"kind": change["op"], "object": ref, "label": ref.get("label"),
                "properties": properties, "more": 0}

    # Conditions: one comparison, or several joined by AND

    def matching(self, entity, number, condition):
        names = [each["name"] for each in self.properties(entity)]
        tests = []
        column = 1
        for part in re.split(r"( AND )", condition or ""):
            if part.strip() and part != " AND ":
                tests.append(self.test(part, column, names, entity))
            column += len(part)
        for (name, key), values in self.state(number).items():
            if name == entity and all(test(values | {"id": key}) for test in tests):
                yield key, values

    def test(self, text, column, names, entity):
        found = re.fullmatch(
            r'\s*([\w.]+)\s*(==|!=|<=|>=|<|>|CONTAINS|BEGINSWITH)(?:\[\w+\])?\s*(".*"|[\w.-]+)\s*', text)
        if not found:
            raise Fault(400, "invalidArgument", "a comparison is expected, as in title == \"Fog\"",
                        parameter="where", column=column + len(text.rstrip()))
        name, operator, literal = found.groups()
        if name not in names:
            raise Fault(400, "invalidArgument", f'{entity} has no property "{name}"',
                        parameter="where", column=column + found.start(1))
        value = {"nil": None}.get(literal, json.loads(literal) if literal != "nil" else None)

        def holds(values):
            own = values.get(name)
            if operator in ("==", "!="):
                return (own == value) == (operator == "==")
            if own is None or value is None:
                return False
            if operator == "CONTAINS":
                return str(value) in str(own)
            if operator == "BEGINSWITH":
                return str(own).startswith(str(value))
            return {"<": own < value, "<=": own <= value, ">": own > value, ">=": own >= value}[operator]

        return holds
