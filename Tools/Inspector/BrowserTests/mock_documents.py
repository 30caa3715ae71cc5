"""The documents of the mock server, made from a store of JSON Lines as the contract describes them."""

import shlex

from mock_bytes import MockBytes
from mock_changes import MockChanges
from mock_pictures import MockPictures
from mock_store import Fault, UNITS


class MockDocuments(MockChanges, MockPictures, MockBytes):
    """`rows`: a table answers with so many made-up rows. `isDamaged`: a frame does not hold."""

    def __init__(self, store, isDamaged=False, rows=0):
        self.store, self.isDamaged, self.rows = store, isDamaged, rows

    def answer(self, name, query):
        if not hasattr(self, f"document_{name}"):
            raise Fault(404, "notFound", f"there is no document {name}")
        self.query = query
        self.at = self.store.number(query.get("at")) if name != "transactions" else None
        answer = getattr(self, f"document_{name}")()
        words = ["annals", name, self.store.path]
        for key, value in query.items():
            if key not in ("limit", "offset", "cut", "store", "columns"):
                words += [f"--{key}", value]
        answer.setdefault("command", shlex.join(words))
        return answer

    def whole(self, name, default):
        return int(self.query.get(name) or default)

    def page(self, rows, default=100):
        offset = self.whole("offset", 0)
        return rows[offset:offset + min(500, self.whole("limit", default))]

    def document_stores(self):
        store = self.store
        return {"stores": [{"name": "mock.annals", "size": 25264, "isOpen": True, "base": 0, "head": store.head}],
                "more": 0}

    def document_overview(self):
        store, state = self.store, self.store.state(self.at)
        counts = {}
        for entity, _ in state:
            counts[entity] = counts.get(entity, 0) + 1
        entities = [{"name": name, "count": counts.get(name, 0), "displayName": entity.get("display"),
                     "key": "id", "properties": len(store.properties(name))}
                    for name, entity in sorted(store.entities.items())]
        return {"file": "mock.annals", "path": store.path, "size": 25264, "uuid": "0", "base": 0,
                "head": store.head, "moment": store.moment(self.at), "entities": entities,
                "zoneOffset": 3600, "findings": [], "isLive": True, "program": "mock"}

    def document_moment(self):
        answer = {"moment": self.store.moment(self.at)}
        if self.at > 0:
            answer["previous"] = self.at - 1
        if self.at < self.store.head:
            answer["next"] = self.at + 1
        return answer

    def document_density(self):
        store = self.store
        by_time = self.query.get("by", "time") == "time"
        places = [each["us"] if by_time else each["n"] for each in store.transactions]
        start = self.whole("from", min(places, default=0))
        end = self.whole("to", max(places, default=0) + 1)
        count = min(self.whole("buckets", 240), max(1, end - start))
        totals = {}
        for each in store.transactions:
            totals[each.get("author")] = totals.get(each.get("author"), 0) + 1
        authors = sorted(totals, key=lambda name: -totals[name])
        names = authors[:11] + ([None] if len(authors) > 11 else [])
        buckets = [{"from": start + (end - start) * i // count, "to": start + (end - start) * (i + 1) // count,
                    "count": 0, "authors": [0] * len(names)} for i in range(count)]
        for place, each in zip(places, store.transactions):
            if not start <= place < end:
                continue
            bucket = buckets[min(count - 1, (place - start) * count // (end - start))]
            bucket["count"] += 1
            bucket["first"] = min(bucket.get("first", each["n"]), each["n"])
            bucket["last"] = max(bucket.get("last", 0), each["n"])
            author = each.get("author")
            bucket["authors"][names.index(author) if author in names else len(names) - 1] += 1
        return {"by": "time" if by_time else "number", "from": start, "to": end, "progress": 1,
                "total": sum(b["count"] for b in buckets), "authors": names, "active": authors[:500],
                "buckets": buckets}

    def matches(self):
        entity = self.query.get("entity", "")
        found = list(self.store.matching(entity, self.at, self.query.get("where")))
        for part in reversed((self.query.get("sort") or "").split(",")):
            name = part.lstrip("-").split("[")[0]
            if name:
                found.sort(key=lambda row: (row[1].get(name) is None, str(row[1].get(name, ""))),
                           reverse=part.startswith("-"))
        return entity, found

    def plan(self, entity, found):
        count = sum(1 for name, _ in self.store.state(self.at) if name == entity)
        where = self.query.get("where")
        lines = [f"reads all {count} objects"] + ([f"each is asked: {where}"] if where else [])
        return {"plan": lines, "planRemedy": "annals index mock.annals add Entry title" if where else None,
                "total": len(found), "all": count}

    def document_plan(self):
        return self.plan(*self.matches())

    def document_table(self):
        store = self.store
        entity, found = self.matches()
        chosen = self.query.get("columns")
        every = store.properties(entity)
        names = chosen.split(",") if chosen else [each["name"] for each in every]
        columns = [{"name": each["name"], "type": each["type"], "isKey": bool(each.get("unique")),
                    "isDisplayName": each["name"] == store.entities[entity].get("display"),
                    "isRelationship": "to" in each, "isToMany": each["type"] == "objects",
                    "destination": each.get("to"), "isIndexed": False}
                   for name in names for each in every if each["name"] == name]
        if self.rows:
            return self.made_up_table(entity)
        rows = [{"object": store.ref(entity, key, self.at), "referrers": 0,
                 "values": [store.cell(entity, c["name"], (values | {"id": key}).get(c["name"]), self.at)
                            for c in columns]}
                for key, values in self.page(found)]
        widths = [max([min(60, len(row["values"][i]["text"])) for row in rows], default=4)
                  for i in range(len(columns))]
        return {"moment": store.moment(self.at), "entity": entity, "columns": columns, "rows": rows,
                "offset": self.whole("offset", 0), "widths": widths, **self.plan(entity, found)}

    def made_up_table(self, entity):
        offset = self.whole("offset", 0)
        columns = [{"name": "title", "type": "string", "isKey": False, "isDisplayName": True, "isRelationship": False,
                    "isToMany": False, "isIndexed": True}]
        numbers = range(offset, min(self.rows, offset + self.whole("limit", 100)))
        rows = [{"object": {"id": f"{entity}#{n}", "name": f"{entity}/{n}", "entity": entity, "row": n, "exists": True},
                 "values": [{"kind": "string", "text": f"row {n}"}]} for n in numbers]
        return {"moment": self.store.moment(self.at), "entity": entity, "columns": columns, "rows": rows,
                "offset": offset, "widths": [12], "total": self.rows, "all": self.rows, "plan": []}

    def document_groups(self):
        entity, found = self.matches()
        unit, _, name = self.query["by"].rpartition(":")
        counts = {}
        for key, values in found:
            value = values.get(name)
            value = value[:UNITS[unit]] if unit and value else value
            counts[value] = counts.get(value, 0) + 1
        order = sorted(counts.items(), key=lambda each: (each[0] or "") if unit else -each[1])
        groups = [{"key": self.store.cell(entity, name, value, self.at), "count": count,
                   "text": "nil" if value is None else str(value),
                   **({} if unit else {"filter": f'{name} == "{value}"' if value else f"{name} == nil"})}
                  for value, count in order]
        return {"moment": self.store.moment(self.at), "by": self.query["by"], "groups": self.page(groups),
                "total": len(found), "groupCount": len(groups), "offset": self.whole("offset", 0)}

    def document_object(self):
        store = self.store
        entity, key = store.find(self.query["object"])
        values = store.state(self.at).get((entity, key))
        blame, deleted = {}, None
        for transaction in store.transactions[:self.at]:
            for change in transaction["changes"]:
                if (change["entity"], change["id"]) == (entity, key):
                    deleted = store.header(transaction["n"]) if change["op"] == "delete" else None
                    if change["op"] == "delete":
                        values = None
                        ending = change.get("was", {})
                    for name in change.get("set", {}):
                        blame[name] = store.moment(transaction["n"])
        exists = values is not None
        shown = values if exists else (ending if deleted else None)
        properties = [] if shown is None else [
            {"name": each["name"], "type": each["type"], "isKey": bool(each.get("unique")),
             "value": store.cell(entity, each["name"], (shown | {"id": key}).get(each["name"]), self.at,
                                 self.whole("cut", 200)),
             "isRelationship": "to" in each, "destination": each.get("to"),
             "setBy": blame.get(each["name"]), "isOfBase": False}
            for each in store.properties(entity)]
        referrers = []
        for name, other in store.entities.items():
            for each in other.get("relationships", []):
                found = self.referring(name, each["name"], key) if each["to"] == entity else []
                if found:
                    referrers.append({"entity": name, "property": each["name"], "count": len(found)})
        return {"moment": store.moment(self.at), "object": store.ref(entity, key, self.at), "exists": exists,
                "entity": entity, "properties": properties, "referrers": referrers, "deleted": deleted}

    def referring(self, entity, name, key):
        return [own for (other, own), values in self.store.state(self.at).items()
                if other == entity and (values.get(name) == key or key in (values.get(name) or [])
                                        if isinstance(values.get(name), list) else values.get(name) == key)]

    def document_referrers(self):
        _, key = self.store.find(self.query["object"])
        entity, _, name = self.query["property"].partition(".")
        found = self.referring(entity, name, key)
        return {"objects": [self.store.ref(entity, each, self.at) for each in self.page(found)],
                "total": len(found), "offset": self.whole("offset", 0), "property": self.query["property"]}
