"""The documents of the mock server that are drawn: schema, space, since when, timelines."""

import operator
import re

from mock_store import microseconds

COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
               "==": operator.eq, "!=": operator.ne}


def day(text):
    """The microseconds of a date such as 2019-10; nothing if it is none."""
    found = re.fullmatch(r"(\d{4})(-\d\d)?(-\d\d)?", text[:10])
    return microseconds(found[1] + (found[2] or "-01") + (found[3] or "-01") + "T00:00:00Z") if found else None


class MockPictures:
    def document_schema(self):
        entities = []
        for index, (name, entity) in enumerate(self.store.entities.items()):
            count = sum(1 for other, _ in self.store.state(self.at) if other == name)
            entities.append({
                "name": name, "number": index + 1, "displayName": entity.get("display"), "count": count,
                "attributes": [{"name": a["name"], "type": a["type"], "isRequired": not a.get("optional", True),
                                "isUnique": bool(a.get("unique")), "isIndexed": False, "rules": []}
                               for a in entity["attributes"]],
                "relationships": [{"name": r["name"], "destination": r["to"], "isToMany": bool(r.get("toMany")),
                                   "isRequired": False, "deleteRule": "nullify", "rules": []}
                                  for r in entity.get("relationships", [])],
                "indexes": [], "rules": []})
        growth = [{"header": self.store.header(n), "lines": ["schema of " + name for name in self.store.entities]}
                  for n in range(1, min(2, self.store.head + 1))]
        return {"moment": self.store.moment(self.at), "entities": entities, "growth": growth, "migrations": [],
                "json": "{}"}

    def document_space(self):
        sums = {}
        for transaction in self.store.transactions:
            for change in transaction["changes"]:
                for name, value in change.get("set", {}).items():
                    place = (change["entity"], name)
                    sums[place] = sums.get(place, 0) + len(str(value))
        months, authors = {}, {}
        for each in self.store.transactions:
            for table, key in ((months, each["timestamp"][:7]), (authors, each.get("author"))):
                table.setdefault(key, [0, 0])
                table[key][0] += 100
                table[key][1] += 1
        return {"size": 25264, "progress": 1, "isSound": True,
                "uses": [{"use": "header", "bytes": 12288}, {"use": "live", "bytes": 12976}],
                "properties": [{"entity": e, "property": p, "bytes": b, "history": b, "state": 0, "large": 0,
                                "changes": 10} for (e, p), b in sorted(sums.items(), key=lambda x: -x[1])],
                "authors": [{"author": a, "bytes": b, "transactions": t} for a, (b, t) in authors.items()],
                "months": [{"month": m, "bytes": b, "transactions": t} for m, (b, t) in sorted(months.items())]}

    def document_since(self):
        low, high, probes = 0, self.at, []

        def holds(number):
            if self.query.get("object"):
                place = self.store.find(self.query["object"])
                keys = [k for k, _ in self.store.matching(place[0], number, self.query.get("where"))]
                return place[1] in keys, None
            found = list(self.store.matching(self.query["entity"], number, self.query.get("where")))
            sign, limit = re.fullmatch(r"([<>=!]=?)(\d+)", self.query.get("count") or ">0").groups()
            return COMPARISONS[sign](len(found), int(limit)), len(found)

        now = holds(high)[0]
        if high == 0 or holds(0)[0] == now:
            return {"holds": now, "states": 2, "probes": [], "from": self.store.moment(0), "to": self.store.moment(high)}
        while high - low > 1:
            middle = (low + high) // 2
            value, count = holds(middle)
            probes.append({"number": middle, "holds": value, **({} if count is None else {"count": count})})
            low, high = (low, middle) if value == now else (middle, high)
        changes = [self.store.change(c, high) for c in self.store.transactions[high - 1]["changes"][:20]]
        return {"holds": now, "became": self.store.header(high), "changes": changes, "states": len(probes) + 1,
                "from": self.store.moment(0), "to": self.store.moment(self.at), "probes": probes}

    def document_timeline(self):
        entities = [{"entity": name, "starts": [a["name"] for a in e["attributes"] if a["name"] in ("start", "end")],
                     "flags": [a["name"] for a in e["attributes"] if a["type"] == "bool"],
                     "groups": ["about"] if name == "Entry" else []} for name, e in self.store.entities.items()]
        suggestions = {"entities": [each for each in entities if each["starts"]]}
        start, end, group = (self.query.get(name) for name in ("start", "end", "group"))
        if not start and not self.query.get("lifetimes"):
            return {"suggestions": suggestions}
        if not start:
            return {**self.lifetimes(), "suggestions": suggestions}
        bars, groups, lanes, ends = [], [], [], {}
        now = microseconds("2020-01-15T00:00:00Z")
        found = sorted(self.matches()[1], key=lambda row: row[1].get(start) or "")
        for key, values in found:
            name = str(values.get(group)) if group else ""
            if name not in groups:
                groups.append(name)
                lanes.append(1)
            place = groups.index(name)
            kind = "ongoing" if values.get("isOngoing") else "range" if values.get(end or "") else "single"
            begin = day(values.get(start) or "")
            if begin is None:
                continue
            finish = now if kind == "ongoing" else (day(values[end]) or begin) if kind == "range" else begin
            lane = next(i for i in range(99) if ends.get((place, i), -1e20) < begin)
            ends[(place, lane)] = max(finish, begin + 80 * 86400_000_000)
            lanes[place] = max(lanes[place], lane + 1)
            ref = self.store.ref("Entry", key, self.at)
            bars.append({"object": ref, "label": ref.get("label", key), "kind": kind, "startUs": begin,
                         "endUs": finish, "start": values[start], "end": values.get(end or ""), "group": place,
                         "lane": lane, "length": "4 days"})
        rows = [{"bar": i, "role": "start", "date": b["start"], "us": b["startUs"], "gap": "4 days",
                 "elapsed": "7 years"} for i, b in enumerate(bars)]
        return {"title": f"Entry: {start}", "groups": groups, "startUs": min(b["startUs"] for b in bars),
                "endUs": max(b["endUs"] for b in bars), "nowUs": now, "hasDays": True, "bars": bars, "rows": rows,
                "lanes": lanes, "total": len(bars), "unplaced": [], "unplacedCount": 0, "suggestions": suggestions}

    def lifetimes(self):
        entity, lives = self.query["entity"], {}
        for transaction in self.store.transactions[:self.at]:
            for change in transaction["changes"]:
                if change["entity"] == entity and change["op"] != "update":
                    lives.setdefault(change["id"], []).append(transaction)
        bars = [{"object": self.store.ref(entity, key, self.at), "label": key, "group": 0, "lane": lane % 40,
                 "kind": "range" if len(life) > 1 else "ongoing", "startUs": life[0]["us"],
                 "endUs": life[-1]["us"] if len(life) > 1 else self.store.transactions[-1]["us"],
                 "start": life[0]["timestamp"], "end": life[-1]["timestamp"]}
                for lane, (key, life) in enumerate(lives.items())]
        rows = [{"bar": i, "role": "start", "date": b["start"], "us": b["startUs"]} for i, b in enumerate(bars)]
        return {"title": entity, "groups": [""], "bars": bars, "rows": rows, "lanes": [min(40, len(bars)) or 1],
                "startUs": min([b["startUs"] for b in bars], default=0),
                "endUs": max([b["endUs"] for b in bars], default=0), "nowUs": 0, "hasDays": False,
                "total": len(bars), "unplaced": [], "unplacedCount": 0}
