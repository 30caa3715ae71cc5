"""The documents of the mock server about changes: lives, versions, differences, transactions."""

from mock_store import Fault


class MockChanges:
    def document_life(self):
        place = self.store.find(self.query["object"])
        before = self.whole("before", self.store.head + 1)
        versions = [{"header": self.store.header(t["n"]),
                     "change": self.store.change(c, t["n"], self.whole("cut", 200))}
                    for t in reversed(self.store.transactions[:before - 1]) for c in t["changes"]
                    if (c["entity"], c["id"]) == place]
        limit = self.whole("limit", 100)
        answer = {"object": self.store.ref(*place, self.store.head), "versions": versions[:limit], "progress": 1}
        if len(versions) > limit:
            answer["older"] = versions[limit - 1]["header"]["number"]
        return answer

    def document_version(self):
        place = self.store.find(self.query["object"])
        first, second = (self.store.number(self.query.get(name)) for name in ("from", "to"))
        change = self.between(place, first, second)
        answer = {"object": self.store.ref(*place, second), "from": self.store.moment(first),
                  "to": self.store.moment(second)}
        return answer | ({"change": change} if change else {})

    def between(self, place, first, second):
        before, after = self.store.state(first).get(place), self.store.state(second).get(place)
        if before == after:
            return None
        kind = "insert" if before is None else "delete" if after is None else "update"
        names = [each["name"] for each in self.store.properties(place[0])]
        properties = []
        for name in names:
            old, new = (before or {}).get(name), (after or {}).get(name)
            if old == new:
                continue
            shown = {"property": name}
            if kind != "insert":
                shown["before"] = self.store.cell(place[0], name, old, first, self.whole("cut", 200))
            if kind != "delete":
                shown["after"] = self.store.cell(place[0], name, new, second, self.whole("cut", 200))
            properties.append(shown)
        ref = self.store.ref(*place, second if after else first)
        return {"kind": kind, "object": ref, "label": ref.get("label"), "properties": properties, "more": 0}

    def document_diff(self):
        first, second = (self.store.number(self.query.get(name)) for name in ("from", "to"))
        places = list(dict.fromkeys([*self.store.state(first), *self.store.state(second)]))
        changes = [c for c in (self.between(place, first, second) for place in places) if c]
        counts = {}
        for change in changes:
            counts.setdefault(change["object"]["entity"], {"inserts": 0, "updates": 0, "deletes": 0})
            counts[change["object"]["entity"]][change["kind"] + "s"] += 1
        chosen = [c for c in changes if self.query.get("entity") in (None, "", c["object"]["entity"])]
        return {"from": self.store.moment(first), "to": self.store.moment(second), "progress": 1,
                "entities": [{"entity": name, **each} for name, each in sorted(counts.items())],
                "changes": self.page(chosen), "offset": self.whole("offset", 0), "total": len(chosen)}

    def fits(self, transaction, change):
        tests = {"entity": change["entity"], "type": change["op"]}
        if any(self.query.get(name) not in (None, "", value) for name, value in tests.items()):
            return False
        if self.query.get("object") and self.store.find(self.query["object"]) != (change["entity"], change["id"]):
            return False
        return self.query.get("property") in (None, "", *change.get("set", change.get("was", {})))

    def document_transactions(self):
        store = self.store
        limit = min(500, self.whole("limit", 100))
        after, before = self.whole("after", 0), self.whole("before", store.head + 1)
        found = []
        narrowed = any(self.query.get(name) for name in ("entity", "type", "object", "property"))
        for transaction in reversed(store.transactions[:before - 1]):
            if transaction["n"] <= after:
                break
            if self.query.get("author") not in (None, "", transaction.get("author")):
                continue
            if self.query.get("text", "").lower() not in (transaction.get("message") or "").lower():
                continue
            if transaction["timestamp"] < self.query.get("since", ""):
                continue
            fitting = [c for c in transaction["changes"] if self.fits(transaction, c)]
            if fitting or not narrowed:
                found.append({"header": store.header(transaction["n"]), "matching": len(fitting),
                              "changes": [store.change(c, transaction["n"]) for c in fitting[:5]]})
        shown = found[-limit:] if self.query.get("after") and not self.query.get("before") else found[:limit]
        answer = {"transactions": shown, "isPartial": False, "head": store.head}
        if shown and shown[-1] is not found[-1]:
            answer["older"] = shown[-1]["header"]["number"]
        if shown and shown[0]["header"]["number"] < store.head:
            answer["newer"] = shown[0]["header"]["number"]
        return answer

    def document_transaction(self):
        number = self.whole("number", self.store.head)
        if not 1 <= number <= self.store.head:
            raise Fault(404, "notFound", f"there is no transaction {number}", parameter="number")
        transaction = self.store.transactions[number - 1]
        changes = self.page(transaction["changes"])
        answer = {"header": self.store.header(number), "metadata": [], "schemaLines": [],
                  "changes": [self.store.change(c, number, self.whole("cut", 200)) for c in changes],
                  "offset": self.whole("offset", 0), "total": len(transaction["changes"])}
        if number > 1:
            answer["previous"] = number - 1
        if number < self.store.head:
            answer["next"] = number + 1
        return answer
