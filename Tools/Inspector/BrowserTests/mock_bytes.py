"""The bytes of the mock server: a header, two slots, then a made-up frame of 160 bytes a transaction."""

import base64


class MockBytes:
    def document_findings(self):
        if self.isDamaged:
            finding = {"severity": "error", "subject": "frame", "offset": 12768, "message": "The checksum does not hold.",
                       "remedy": "annals salvage mock.annals saved.annals"}
            return {"findings": [finding], "errors": 1, "warnings": 0, "isSound": False, "stage": "done", "progress": 1,
                    "more": 0}
        return {"findings": [], "errors": 0, "warnings": 0, "isSound": True, "stage": "done", "progress": 1, "more": 0}

    def regions(self):
        yield {"offset": 0, "length": 4096, "kind": "header", "checksum": "ok", "isOk": True, "summary": "version 1"}
        for slot in (0, 1):
            yield {"offset": 4096 * (slot + 1), "length": 4096, "kind": "slot", "checksum": "ok", "isOk": True,
                   "summary": f"slot {slot}"}
        for n in range(1, self.store.head + 1):
            isOk = not (self.isDamaged and n == 4)
            yield {"offset": 12288 + 160 * (n - 1), "length": 160, "kind": "transaction",
                   "checksum": "ok" if isOk else "wrong", "chain": "ok", "isOk": isOk,
                   "summary": f"transaction {n}", "first": n, "last": n}

    def document_frames(self):
        start, limit = self.whole("from", 0), self.whole("limit", 500)
        rest = [r for r in self.regions() if r["offset"] + r["length"] > start]
        answer = {"size": 12288 + 160 * self.store.head, "regions": rest[:limit], "isStore": True}
        return answer | ({"next": rest[limit]["offset"]} if len(rest) > limit else {})

    def document_strip(self):
        size = 12288 + 160 * self.store.head
        pieces = [{**{k: r[k] for k in ("offset", "length", "kind", "isOk")}, "count": 1}
                  for r in list(self.regions())[:3]]
        pieces.append({"offset": 12288, "length": size - 12288, "kind": "transaction", "count": self.store.head,
                       "isOk": True})
        return {"size": size, "progress": 1, "from": 0, "to": size, "pieces": pieces}

    def document_bytes(self):
        offset = self.whole("offset", 0)
        every = list(self.regions())
        place = next(i for i, r in enumerate(every) if r["offset"] + r["length"] > offset)
        region = every[place]
        skip = self.whole("skip", 0)
        count = min(self.whole("length", 4096), region["length"] - skip)
        data = bytes((skip + i) % 251 for i in range(count))
        start = region["offset"]
        fields = [{"offset": start, "length": 4, "depth": 0, "name": "header checksum", "value": "ok"},
                  {"offset": start + 4, "length": 8, "depth": 0, "name": "length", "value": str(region["length"])},
                  {"offset": start + 12, "length": region["length"] - 12, "depth": 0, "name": "content", "value": ""},
                  {"offset": start + 12, "length": 8, "depth": 1, "name": "number", "value": "1"}]
        answer = {**region, "details": [{"name": "number", "value": "1"}], "skip": skip, "fields": fields,
                  "bytes": base64.b64encode(data).decode(), "moreFields": 0}
        if place:
            answer["previous"] = every[place - 1]["offset"]
        if place + 1 < len(every):
            answer["next"] = every[place + 1]["offset"]
        return answer
