#!/usr/bin/env python3
"""A second reader of .annals files, written from FORMAT.md alone.

    reader.py FILE state N          the state as of transaction N, replayed from the base
    reader.py FILE checkpoint       the state of the newest checkpoint, from its chunks alone
    reader.py FILE list             one line of JSON for each transaction
    reader.py FILE digest [N ...]   "N sha256" of the state as of each N (all, if none is named)
    reader.py FILE check            replays all and compares with every checkpoint in the file
    reader.py FILE both             check, and then digest
    reader.py FILE met [FILE ...]   the same for each, and a line for each thing of the format met

Only the standard library is used, and nothing of the project's code. It refuses what the format
refuses: exit 1 and one line on the standard error for damage, 2 for a wrong call, 3 if there is no
checkpoint.
"""

import base64
import copy
import datetime
import hashlib
import json
import struct
import sys
import uuid
import zlib
from decimal import Context, Decimal
from fractions import Fraction

M64 = (1 << 64) - 1
LOG_START = 12288
MAX_PAYLOAD = 16777216
MAX_DECODED = 67108864

NULL, BOOL, INT, DOUBLE, STRING, DATE, UUID, URL, DATA, JSON, OBJECT, OBJECTS, ERASED = range(13)
REFERENCES = 1 << 20  # in place of the flags of an index: that of a relationship
ANY = 13
DECIMAL, DAY = 16, 17
FIRST_DAY, LAST_DAY = -4371587, 2932896
LARGE, EDITS = 16, 32


class Damage(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Damage(text)


# Decimals of all places, none of which is rounded.
EXACT = Context(prec=400)

# What was met of the format: (what it is, the number by which the format names it).
MET = set()


def met(what, which):
    MET.add((what, which))


def met_flags(what, flags):
    for bit in range(8):
        if flags >> bit & 1:
            met(what, 1 << bit)


def signed(n):
    n &= M64
    return n - (1 << 64) if n >> 63 else n


def crc(data, seed=0):
    return zlib.crc32(data, seed)


# ---------------------------------------------------------------------------------- primitives


class Cursor:
    """Reads the primitives of "Conventions" from bytes."""

    __slots__ = ("data", "at", "end", "budget")

    def __init__(self, data, budget=None):
        self.data = data
        self.at = 0
        self.end = len(data)
        # What is left of the 64 MiB of [deflated columns, strings and lists].
        self.budget = budget if budget is not None else [MAX_DECODED, MAX_DECODED]

    def raw(self, n):
        at = self.at
        need(n <= self.end - at, "a length goes beyond the end")
        self.at = at + n
        return self.data[at:at + n]

    def u8(self):
        at = self.at
        need(at < self.end, "the bytes end early")
        self.at = at + 1
        return self.data[at]

    def u32(self):
        return int.from_bytes(self.raw(4), "little")

    def u64(self):
        return int.from_bytes(self.raw(8), "little")

    def i64(self):
        return int.from_bytes(self.raw(8), "little", signed=True)

    def varint(self):
        data, at, end = self.data, self.at, self.end
        shift = value = 0
        while True:
            need(at < end, "the bytes end in a varint")
            b = data[at]
            at += 1
            value |= (b & 127) << shift
            if b < 128:
                need(b != 0 or shift == 0, "a varint that is not the shortest")
                break
            shift += 7
            need(shift < 70, "a varint of more than 64 bits")
        need(value <= M64, "a varint of more than 64 bits")
        self.at = at
        return value

    def zigzag(self):
        v = self.varint()
        return (v >> 1) ^ -(v & 1)

    def number(self):
        v = self.varint()
        need(v < 1 << 63, "a number of more than 63 bits")
        return v

    def number32(self):
        v = self.varint()
        need(v < 1 << 32, "a number of more than 32 bits")
        return v

    def sized(self):
        return self.raw(self.varint())

    def string(self):
        try:
            return self.sized().decode("utf-8")
        except UnicodeDecodeError:
            raise Damage("a string that is not UTF-8")

    def list(self, read):
        n = self.varint()
        need(n <= self.end - self.at, "a list longer than what is left")
        return [read(self) for _ in range(n)]

    def finish(self, what):
        need(self.at == self.end, "bytes behind the end of " + what)

    def take_strings(self, n):
        self.budget[1] -= n
        need(self.budget[1] >= 0, "a payload decodes to too much")


def inflate(data, length):
    engine = zlib.decompressobj(-15)
    try:
        out = engine.decompress(data, length + 1)
    except zlib.error as error:
        raise Damage("deflate: %s" % error)
    need(len(out) == length, "a deflated run of another length than it says")
    if not engine.eof:  # the end-of-block code may still be due
        try:
            need(engine.decompress(engine.unconsumed_tail, 1) == b"", "a deflated run is longer")
        except zlib.error as error:
            raise Damage("deflate: %s" % error)
    need(engine.eof and not engine.unused_data, "a deflate stream that does not end with its bytes")
    return out


def unpack(data, count, width):
    """`count` numbers of `width` bits, the lowest bit first."""
    need(len(data) == (count * width + 7) // 8, "packed numbers of another length")
    if width == 0:
        return [0] * count
    spare = len(data) * 8 - count * width
    need(spare == 0 or data[-1] >> (8 - spare) == 0, "unused bits that are not 0")
    out = []
    mask = (1 << width) - 1
    step = 16 * width  # 128 numbers
    for at in range(0, len(data), step):
        x = int.from_bytes(data[at:at + step], "little")
        for _ in range(min(128, count - len(out))):
            out.append(x & mask)
            x >>= width
    return out


def increasing(items, what):
    need(all(a < b for a, b in zip(items, items[1:])), what + " do not rise")


def property_set(c):
    bits = c.sized()
    need(len(bits) <= 8192, "a property set of more than 8192 bytes")
    need(not bits or bits[-1] != 0, "a property set that ends in 0")
    return tuple(i * 8 + k + 1 for i, b in enumerate(bits) if b for k in range(8) if b >> k & 1)


# ---------------------------------------------------------------------------------- values
#
# A value is None, or a tuple of the tag and: a bool, int, float, bytes, (entity, row), a tuple of
# (entity, row), a tuple of (position, entity, row), or (number, length, checksum) if large.


def kind_of(tag):
    return tag & 15 | (tag & 64) >> 2


def tag_of(kind):
    return kind & 15 | (kind & 16) << 2


def check_tag(tag, edits=False):
    kind = kind_of(tag)
    need(tag < 128 and (kind <= ERASED or kind in (DECIMAL, DAY)), "an unknown value tag %d" % tag)
    if tag & LARGE:
        need(kind in (STRING, URL, DATA, JSON) and not tag & EDITS, "a large value of kind %d" % kind)
    if tag & EDITS:
        need(kind == OBJECTS and edits, "edits where there can be none")
    return kind


def double(data):
    x = struct.unpack("<d", data)[0]
    need(x == x and x not in (float("inf"), float("-inf")), "a double that is not finite")
    return x


def day(n):
    need(FIRST_DAY <= n <= LAST_DAY, "day %d" % n)
    return n


def decimal(data):
    """The bytes of a decimal, if some number has them."""
    decimal_number(data)
    return data


def decimal_number(data):
    """The number: its sign, digits as a whole number, and the place of the last one."""
    if data == b"\x80":
        return 0, 0
    need(3 <= len(data) <= 23 and data[0] in (0x7E, 0x81), "no decimal")
    negative = data[0] == 0x7E
    if negative:
        need(data[-1] == 0xFF, "a negative decimal without its end")
        data = bytes(255 - b for b in data[:-1])
    pairs = [b - 1 for b in data[2:]]
    need(pairs and all(0 <= p <= 99 for p in pairs) and pairs[0] and pairs[-1], "a decimal of other pairs")
    digits, place = int("".join("%02d" % p for p in pairs)), 2 * (data[1] - 128 - len(pairs))
    while digits % 10 == 0:
        digits, place = digits // 10, place + 1
    n = len(str(digits))
    need(n <= 38 and place >= -128 and place + n - 1 <= 164, "a decimal out of range")
    return -digits if negative else digits, place


def is_number(v):
    return kind_of(v[0]) in (INT, DOUBLE, DECIMAL)


def exact(v):
    if kind_of(v[0]) != DECIMAL:
        return Fraction(v[1])
    digits, place = decimal_number(v[1])
    return digits * Fraction(10) ** place


def decimal_text(data):
    digits, place = decimal_number(data)
    return format(Decimal(digits).scaleb(place, EXACT), "f")


def reference(c):
    entity, row = c.number32(), c.number()
    check_reference(entity, row)
    return entity, row


def check_reference(entity, row):
    need(0 <= entity < 1 << 32 and 0 <= row < 1 << 62, "a reference to entity %d, row %d" % (entity, row))


def check_edits(edits):
    increasing([e[0] for e in edits], "positions of edits")
    return tuple(edits)


def value(c, edits=False):
    tag = c.u8()
    kind = check_tag(tag, edits)
    met("value of tag", tag)
    if tag & LARGE:
        return tag, (c.u64(), c.u64(), c.u32())
    if kind == NULL:
        return None
    if kind == ERASED:
        return tag, None
    if kind == BOOL:
        b = c.u8()
        need(b < 2, "a bool of %d" % b)
        return tag, bool(b)
    if kind in (INT, DATE):
        return tag, c.zigzag()
    if kind == DAY:
        return tag, day(c.zigzag())
    if kind == DECIMAL:
        return tag, decimal(c.sized())
    if kind == DOUBLE:
        return tag, double(c.raw(8))
    if kind == UUID:
        return tag, c.raw(16)
    if kind == OBJECT:
        return tag, reference(c)
    if tag & EDITS:
        return tag, check_edits(c.list(lambda c: (c.number32(),) + reference(c)))
    if kind == OBJECTS:
        return tag, tuple(c.list(reference))
    return tag, c.sized()


def plain_value(c):
    """A value that no object has: of metadata, a default, a validation."""
    v = value(c)
    need(v is None or v[0] != ERASED and not v[0] & LARGE, "an erased or large value that no object has")
    return v


# ---------------------------------------------------------------------------------- schema


class Entity:
    def __init__(self, c, in_change=False):
        self.number = c.number32()
        need(self.number >= 1, "entity 0")
        self.flags = c.u8()
        need(self.flags < (16 if in_change else 8), "unknown flags of an entity")
        met_flags("entity flag", self.flags)
        self.name = c.string()
        self.display = c.string() if self.flags & 2 else None
        self.next = c.number32()
        need(self.next <= 65536, "next property number %d" % self.next)
        self.attributes = c.list(Attribute)
        self.relationships = c.list(Relationship)
        self.indexes = c.list(lambda c: Index(Cursor(c.sized())))
        self.partial = self.flags & 8 != 0
        self.dropped = c.list(lambda c: c.number32()) if self.partial else []
        if self.flags & 4:
            need(extension_area(c), "an empty extension area")
        increasing(self.dropped, "numbers of dropped indexes")
        self.check(self.dropped)

    def check(self, others=()):
        for items in (self.attributes, self.relationships, self.indexes):
            increasing([i.number for i in items], "numbers of properties")
        everything = self.attributes + self.relationships + self.indexes
        numbers = [i.number for i in everything] + list(others)
        need(len(set(numbers)) == len(numbers), "a property number given twice")
        need(all(1 <= n < self.next for n in numbers), "a property number that was not given out")
        self.properties = {p.number: p for p in self.attributes + self.relationships}

    def after(self, change):
        """The entity after a partial change."""
        e = copy.copy(change)
        e.partial, e.dropped, e.flags = False, [], change.flags & ~8
        need(change.next >= self.next, "a change that takes numbers back")
        mine = {i.number for i in self.indexes}
        need(all(n in mine for n in change.dropped), "an index to drop that there is not")
        for items in ("attributes", "relationships", "indexes"):
            merged = {i.number: i for i in getattr(self, items)}
            merged.update({i.number: i for i in getattr(change, items)})
            setattr(e, items, [merged[n] for n in sorted(merged) if n not in change.dropped])
        e.check()
        return e

    def rules(self):
        """Indexes: number to their flags, properties with flags, and tests."""
        out = {a.number: (1, [(a.number, 0)], []) for a in self.attributes if a.flags & 2 and not a.flags & 8}
        out.update({i.number: (i.flags, i.properties, i.tests) for i in self.indexes if i.known})
        out.update({r.number: (REFERENCES, [(r.number, 0)], []) for r in self.relationships if r.indexed})
        return out

    def reference_keys(self, p, row, o):
        """The keys that an object has in a reference index, and the row behind each."""
        v = o.get(p)
        if v is None or v[0] & 15 not in (OBJECT, OBJECTS):
            return []
        targets = v[1] if v[0] & 15 == OBJECTS else [v[1]]
        rows = {target for _, target in targets}
        return [(t - 1).to_bytes(5, "big") + (row - 1).to_bytes(5, "big") for t in rows]

    def passes(self, tests, o):
        """Whether all tests of a partial index are true of an object."""
        for p, how, want in tests:
            v = o.get(p)
            if v is None and not self.properties[p].flags & 1:
                v = self.properties[p].default
            numbers = v and want and is_number(v) and is_number(want)
            if v is None or want is None:
                equal, order = v is want, None
            elif v[0] & LARGE or v[0] == ERASED or v[0] != want[0] and not numbers:
                equal, order = False, None
            else:
                a, b = (exact(v), exact(want)) if numbers else (v[1], want[1])
                equal, order = a == b, (a > b) - (a < b)
            if not {1: equal, 2: not equal, 3: order == -1, 4: order in (-1, 0), 5: order == 1, 6: order in (0, 1)}[how]:
                return False
        return True

    def box_key(self, properties, row, o):
        """The key that an object has in a box index, and the row behind it."""
        bits = []
        for p, _ in properties:
            v = o.get(p)
            prop = self.properties[p]
            if v is None and isinstance(prop, Attribute) and not prop.flags & 1:
                v = prop.default
            if v is None or kind_of(v[0]) not in (INT, DOUBLE, DATE, DAY):
                return None
            bits.append(format(int.from_bytes(key_element(v)[-8:], "big"), "064b"))
        code = "".join(b for column in zip(*bits) for b in column)
        return int(code, 2).to_bytes(8 * len(bits), "big") + (row - 1).to_bytes(5, "big")

    def key(self, unique, properties, row, o):
        """The key that an object has in an index, and the row behind it in an ordered one."""
        out = b""
        for p, flags in properties:
            v = o.get(p)
            if v is None and not unique:
                prop = self.properties[p]
                if isinstance(prop, Attribute) and not prop.flags & 1:
                    v = prop.default
            if v is not None and v[0] == ERASED and unique:
                return None
            if v is None:
                if unique:
                    return None
                out += b"\0" if (flags & 1 != 0) == (flags & 2 != 0) else b"\x80"
                continue
            if not unique and v[0] & LARGE:
                out = b"\xff"
                break
            element = key_element(v, None if unique else 256)
            is_cut = v[0] in (STRING, URL, DATA, JSON) and element.endswith(b"\0\1")
            if flags & 1:
                element = bytes([64 - element[0]]) + bytes(255 - b for b in element[1:])
            out += element
            if not unique and (is_cut or len(out) >= 512):
                break
        return out if unique else out + (row - 1).to_bytes(5, "big")


class Attribute:
    def __init__(self, c):
        self.number, self.name, self.type, self.flags = c.number32(), c.string(), c.u8(), c.u8()
        need(1 <= self.type <= DAY and self.type not in (OBJECT, OBJECTS, 12), "an attribute of type %d" % self.type)
        need(self.flags & ~127 == 0, "unknown flags of an attribute")
        met("attribute type", self.type)
        met_flags("attribute flag", self.flags)
        self.default = plain_value(c) if self.flags & 16 else None
        self.validation = None
        if self.flags & 32:
            v = Cursor(c.sized())
            flags = v.u8()
            need(flags, "a validation without rules")
            met_flags("validation flag", flags & 31)
            self.validation = [
                flags & 1 and plain_value(v), flags & 2 and plain_value(v), flags & 4 and v.zigzag(),
                flags & 8 and v.zigzag(), flags & 16 and v.list(plain_value)]
            if flags < 32:  # else what is left is that of rules of a later version
                v.finish("a validation")
        self.derivation = None
        if self.flags & 64:
            items = extension_area(c)
            need(items, "an empty extension area")
            if 1 in items:
                self.derivation = derivation(Cursor(items[1]))

    def holds(self, kind):
        if self.type == ANY:
            return kind not in (OBJECT, OBJECTS)
        return kind == ERASED or kind == (INT if self.type in (14, 15) else self.type)  # int16, int32


def derivation(c):
    kind = c.u8()
    need(kind, "a derivation that is none")
    if kind > 7:  # of a later version
        return None
    met("derivation", kind)
    source = (c.number32(), c.number32()) if kind < 6 else None
    need(kind != 7 or 0 < c.varint() < 1 << 63, "a version of a function")
    properties = c.list(Cursor.number32)
    c.finish("a derivation")
    return kind, source, properties


class Relationship:
    def __init__(self, c):
        self.number, self.name, self.flags, self.target = c.number32(), c.string(), c.u8(), c.number32()
        need(self.flags < 16, "unknown flags of a relationship")
        met_flags("relationship flag", self.flags)
        self.indexed = False
        if self.flags & 8:
            items = extension_area(c)
            need(items, "an empty extension area")
            need(not items.get(1), "a required relationship with bytes")
            need(3 not in items or (len(items[3]) == 1 and items[3] != b"\0"), "no delete rule")
            items.get(5, b"").decode("utf-8")
            least, most = (zigzag_item(items[tag]) if tag in items else None for tag in (7, 9))
            need(least is most is None or self.flags & 1, "a count of a to-one relationship")
            need(least is None or least > 0, "a least count of nothing")
            need(most is None or (least or 0) <= most, "impossible limits of a count")
            has_rule = items.get(3) in (b"\1", b"\2", b"\3")
            need(not items.get(11), "a counted relationship with bytes")
            self.indexed = not self.flags & 4 and (has_rule or 5 in items or 11 in items)

    def holds(self, kind):
        return kind == ERASED or kind == (OBJECTS if self.flags & 1 else OBJECT)


class Index:
    def __init__(self, c):
        self.number, self.name, self.flags, self.collation = c.number32(), c.string(), c.u8(), c.u8()
        self.properties = []
        self.tests = []
        self.known = self.flags < 16 and self.collation == 0
        if self.known:
            self.properties = c.list(lambda c: (c.number32(), c.u8()))
            self.known = all(f < 4 for _, f in self.properties)
            if self.flags & 8:
                self.known = self.flags & 1 == 0 and 2 <= len(self.properties) <= 8 and all(f == 0 for _, f in self.properties)
        if self.known and self.flags & 4:
            n = c.number()
            need(n, "an empty list of tests")
            for _ in range(n):
                p, how = c.number32(), c.u8()
                if not 1 <= how <= 6:
                    self.known = False
                    return
                self.tests.append((p, how, value(c)))
        if self.known:
            if self.flags & 2:
                need(extension_area(c), "an empty extension area")
            c.finish("the definition of an index")
            met_flags("index flag", self.flags)
            for _, flags in self.properties:
                met_flags("flag of an index's property", flags)
            for _, how, _ in self.tests:
                met("comparison", how)


def need_features(c):
    required, optional = c.u64(), c.u64()
    need(required & ~6 == 0, "required features that this reader does not know: written by a newer version")
    for bit in range(64):
        if required >> bit & 1:
            met("required feature", bit)
        if optional >> bit & 1 and bit in (32, 33, 34, 35, 36, 37, 38):
            met("optional feature", bit)
    return required, optional


def definitions(c, in_change=False):
    entities = c.list(lambda c: Entity(c, in_change))
    increasing([e.number for e in entities], "entities")
    return entities


def zigzag_item(b):
    c = Cursor(b)
    n = c.zigzag()
    c.finish("a number of a definition")
    return n


def extension_area(c):
    area = Cursor(c.sized())
    items = []
    while area.at < area.end:
        items.append((area.varint(), area.sized()))
    increasing([tag for tag, _ in items], "extension tags")
    return dict(items)


def consumer(c):
    """The name of a consumer and what is kept of it; None if it was removed."""
    name, flags = c.string(), c.u8()
    need(0 < len(name.encode()) <= 255, "the name of a consumer")
    need(flags == 1 or flags & ~6 == 0, "flags %d of a consumer" % flags)
    met_flags("consumer flag", flags)
    if flags == 1:
        return name, None
    kind = c.string()
    need(len(kind.encode()) <= 255, "the kind of a consumer")
    found = (flags & 2, kind, c.zigzag(), c.zigzag(), c.number(), c.u64(), c.number() if flags & 4 else None)
    return name, found


def retention(c):
    """How much history is kept: by age, and by count."""
    flags = c.u8()
    need(flags & ~3 == 0, "flags %d of a retention" % flags)
    met_flags("retention flag", flags)
    found = (c.number() if flags & 1 else None, c.number() if flags & 2 else None)
    need(0 not in found, "a retention of nothing")
    return found


# ---------------------------------------------------------------------------------- transactions


class Details:
    def __init__(self, c=None):
        self.names, self.opening, self.metadata, self.schema, self.gap = None, None, [], [], None
        self.clock_jump, self.flags, self.erased = False, 0, None
        self.group, self.undo, self.migrations = None, None, []
        if c is None:
            return
        flags = self.flags = c.u8()
        need(flags < 64, "unknown flags of details")
        met_flags("details flag", flags)
        if flags & 1:
            self.names = (c.number32(), c.list(Cursor.string))
            need(self.names[1], "an empty list of names")
        if flags & 2:
            self.opening = (c.number32(), c.u64(), c.zigzag(), c.string())
        if flags & 4:
            self.metadata = c.list(lambda c: (c.string(), plain_value(c)))
            need(self.metadata, "an empty list of metadata")
            increasing([k.encode() for k, _ in self.metadata], "metadata keys")
            for _, v in self.metadata:
                if v and v[0] in (STRING, URL, JSON):
                    try:
                        v[1].decode("utf-8")
                    except UnicodeDecodeError:
                        raise Damage("metadata that is not UTF-8")
        if flags & 8:
            self.schema = definitions(c, True)
            need(self.schema, "an empty schema change")
        if flags & 16:
            area = extension_area(c)
            need(area, "an empty extension area")
            self.clock_jump = 1 in area
            for tag in area:
                if tag in (1, 2, 3, 4, 5):
                    met("transaction tag", tag)
            need(not area.get(1), "a clock jump that says more")
            if 2 in area:
                self.erased = erasure(Cursor(area[2]))
            if 3 in area:
                need(0 < len(area[3]) <= 255, "the name of a group")
                self.group = bytes(area[3]).decode("utf-8")
            if 4 in area:
                self.undo = undo(Cursor(area[4]))
            if 5 in area:
                self.migrations = [migration_name(n) for n in bytes(area[5]).split(b"\n")]
        if flags & 32:
            self.gap = Gap(c)


def erasure(c):
    """What a transaction erased, and why."""
    targets = c.list(lambda c: (c.number32(), c.number(), c.list(Cursor.number32)))
    need(targets, "an erasure of nothing")
    increasing([t[:2] for t in targets], "erased objects")
    for entity, row, properties in targets:
        check_reference(entity, row)
        increasing([0] + properties, "erased properties")
        need(all(p <= 65535 for p in properties), "an erased property that cannot be")
    reason = c.string()
    need(reason, "an erasure without a reason")
    c.finish("an erasure")
    return targets, reason


def migration_name(name):
    """The name of a migration, from its bytes."""
    need(0 < len(name) <= 255 and min(name) >= 0x20, "the name of a migration")
    try:
        return bytes(name).decode("utf-8")
    except UnicodeDecodeError:
        raise Damage("the name of a migration that is not UTF-8")


def undo(c):
    """The kind of an undo, and the first and the last transaction that it names."""
    kind, first = c.u8(), c.number()
    need(kind in (1, 2), "an undo of kind %d" % kind)
    met("undo kind", kind)
    last = first + (c.number() if kind == 1 else 0)
    need(first >= 1, "an undo of transaction 0")
    c.finish("an undo")
    return kind, first, last


class Gap:
    """What a gap record says of the lost transactions that it stands for."""

    def __init__(self, c):
        self.first, flags = c.number(), c.u8()
        need(self.first >= 1, "a gap from transaction 0")
        need(flags < 4, "unknown flags of a gap")
        met_flags("gap flag", flags)
        self.exact, self.salvaged = bool(flags & 1), c.zigzag()
        self.before = c.zigzag() if flags & 2 else None
        self.reason = c.string()
        self.stale = c.list(lambda c: (c.number32(), c.number()))
        increasing([e for e, _ in self.stale], "stale entities of a gap")
        self.openings = c.list(lambda c: (c.number32(), c.u64(), c.zigzag(), c.string()))


class Transaction:
    """changes: (kind, entity, row, [(property, before, after)])."""

    def __init__(self, number, timestamp, author, context, opening, details, changes):
        self.number, self.timestamp, self.author = number, timestamp, author
        self.context, self.opening, self.details, self.changes = context, opening, details, changes
        need(not details or not details.gap or details.gap.first <= number, "a gap that ends before it begins")
        need(not details or not details.undo or details.undo[2] < number, "an undo of what is not before it")

    @property
    def first(self):
        """The number that this one follows by one."""
        return self.details.gap.first if self.details and self.details.gap else self.number


def transaction_record(payload):
    c = Cursor(payload)
    head = (c.number(), c.zigzag(), c.number32(), c.number32(), c.number32())
    need(head[0] >= 1, "transaction 0")
    details = Details(c)
    row = 0
    changes = []
    for _ in range(c.varint()):
        h = c.varint()
        kind, entity = h & 3, h >> 2
        need(kind < 3, "a change of kind 3")
        met("change of kind", kind)
        need(1 <= entity < 1 << 32, "a change of entity %d" % entity)
        row += c.zigzag()
        need(1 <= row <= 1 << 40, "a change of row %d" % row)
        values = []
        for p in property_set(c):
            before = value(c, kind == 1) if kind != 0 else None
            after = value(c, kind == 1) if kind != 2 else None
            values.append((p, before, after))
        changes.append((kind, entity, row, values))
    c.finish("a transaction record")
    return Transaction(*head, details, changes)


def tombstone_records(payload):
    """The records in a frame of tombstones: deletes, and nothing else."""
    c = Cursor(payload)
    found = []
    while c.at < c.end or not found:
        found.append(transaction_record(c.sized()))
    for t in found:
        need(t.changes and all(kind == 2 for kind, _, _, _ in t.changes), "a tombstone that is no delete")
        need(t.details.flags == 0, "details of tombstones")
    need(all(a.number <= b.number for a, b in zip(found, found[1:])), "tombstones out of order")
    return found


# ---------------------------------------------------------------------------------- blocks


def integer_run(c, n):
    if n == 0:
        return []
    layout = c.u8()
    met("integer run of layout", layout)
    if layout == 0:
        base, width = c.zigzag(), c.u8()
        need(width <= 64, "a width of %d" % width)
        return [signed(base + d) for d in unpack(c.raw((n * width + 7) // 8), n, width)]
    if layout == 1:
        v, base, width = c.zigzag(), c.zigzag(), c.u8()
        need(width <= 64, "a width of %d" % width)
        out = [v]
        for d in unpack(c.raw(((n - 1) * width + 7) // 8), n - 1, width):
            v = signed(v + base + d)
            out.append(v)
        return out
    need(n <= c.end - c.at, "an integer run that is too short")
    if layout == 2:
        return [c.zigzag() for _ in range(n)]
    need(layout == 3, "an integer run of layout %d" % layout)
    v = 0
    out = []
    for _ in range(n):
        v = signed(v + c.zigzag())
        out.append(v)
    return out


def small_run(c, n, low, high, what):
    out = integer_run(c, n)
    need(all(low <= v <= high for v in out), what + " out of range")
    return out


def fixed_run(c, n, size):
    layout = c.u8()
    met("fixed run of layout", layout)
    if layout == 0:
        data = c.raw(n * size)
        return [data[i * size:(i + 1) * size] for i in range(n)]
    need(layout == 2, "a fixed run of layout %d" % layout)
    d = c.varint()
    need(1 <= d <= n, "%d distinct values of %d" % (d, n))
    data = c.raw(d * size)
    return [data[i * size:(i + 1) * size] for i in small_run(c, n, 0, d - 1, "places")]


def byte_string_run(c, n, what=""):
    layout = c.u8()
    met(what + "byte string run of layout", layout)
    if layout == 0:
        lengths = small_run(c, n, 0, MAX_DECODED, "lengths")
        c.take_strings(sum(lengths))
        return [c.raw(k) for k in lengths]
    if layout == 1:
        lengths = small_run(c, n, 0, MAX_DECODED, "lengths")
        shared = [0] + small_run(c, n - 1, 0, MAX_DECODED, "shared lengths")
        c.take_strings(sum(lengths))
        out = []
        last = b""
        for k, s in zip(lengths, shared):
            need(s <= k and s <= len(last), "more bytes shared than there are")
            last = last[:s] + c.raw(k - s)
            out.append(last)
        return out
    if layout == 3 and what != "pattern's ":
        p = c.varint()
        need(1 <= p <= n, "%d patterns of %d strings" % (p, n))
        prefixes, suffixes = byte_string_run(c, p, "pattern's "), byte_string_run(c, p, "pattern's ")
        digits = small_run(c, p, 0, 18, "counts of digits")
        which = small_run(c, n, 0, p - 1, "patterns")
        numbers = iter(small_run(c, sum(digits[i] > 0 for i in which), 0, 10**18 - 1, "numbers"))
        out = [prefixes[i] + (b"%0*d" % (digits[i], next(numbers)) if digits[i] else b"") + suffixes[i] for i in which]
        c.take_strings(sum(map(len, out)))
        return out
    need(layout == 2 and what == "", "a byte string run of layout %d" % layout)
    d = c.varint()
    need(1 <= d <= n, "%d distinct strings of %d" % (d, n))
    strings = byte_string_run(c, d, "distinct ")
    return [strings[i] for i in small_run(c, n, 0, d - 1, "places")]


def tagged_run(c, tag, n):
    kind = check_tag(tag, True)
    met("run of tag", tag)
    if tag & LARGE:
        return [(tag, struct.unpack("<QQI", v)) for v in fixed_run(c, n, 20)]
    if kind == NULL:
        return [None] * n
    if kind == ERASED:
        return [(tag, None)] * n
    if kind == BOOL:
        return [(tag, bool(v)) for v in small_run(c, n, 0, 1, "bools")]
    if kind in (INT, DATE):
        return [(tag, v) for v in integer_run(c, n)]
    if kind == DAY:
        return [(tag, day(v)) for v in integer_run(c, n)]
    if kind == DECIMAL:
        return [(tag, decimal(v)) for v in byte_string_run(c, n)]
    if kind == DOUBLE:
        return [(tag, double(v)) for v in fixed_run(c, n, 8)]
    if kind == UUID:
        return [(tag, v) for v in fixed_run(c, n, 16)]
    if kind == OBJECT:
        entities, rows = integer_run(c, n), integer_run(c, n)
        for e, r in zip(entities, rows):
            check_reference(e, r)
        return [(tag, er) for er in zip(entities, rows)]
    if kind == OBJECTS:
        counts = small_run(c, n, 0, 1048576, "counts")
        total = sum(counts)
        c.take_strings(total)
        positions = small_run(c, total, 0, (1 << 32) - 1, "positions") if tag & EDITS else None
        entities, rows = integer_run(c, total), integer_run(c, total)
        for e, r in zip(entities, rows):
            check_reference(e, r)
        items = list(zip(positions, entities, rows) if tag & EDITS else zip(entities, rows))
        out, at = [], 0
        for k in counts:
            part = tuple(items[at:at + k])
            at += k
            out.append((tag, check_edits(part) if tag & EDITS else part))
        return out
    return [(tag, v) for v in byte_string_run(c, n)]


def value_column(c, n):
    tag = c.u8()
    if tag != 0xFF:
        return tagged_run(c, tag, n)
    met("column of several tags", tag)
    tags = small_run(c, n, 0, 255, "tags")
    runs = {t: iter(tagged_run(c, t, tags.count(t))) for t in sorted(set(tags))}
    return [next(runs[t]) for t in tags]


class Block:
    """The summary of a block record, checked against its columns."""

    def __init__(self, payload):
        c = Cursor(payload)
        self.form = c.u8()
        need(self.form < 2, "a block of form %d" % self.form)
        met("block of form", self.form)
        self.first = c.number()
        need(self.first >= 1, "transaction 0")
        if self.form == 0:
            self.count, self.part = c.varint(), 0
            need(1 <= self.count <= 262144, "a block of %d transactions" % self.count)
        else:
            self.count, self.part = 1, c.number32()
        least, span = c.zigzag(), c.varint()
        total = c.varint()
        need(total <= 262144, "a block of %d changes" % total)
        authors, contexts = c.list(Cursor.number32), c.list(Cursor.number32)
        increasing(authors, "authors")
        increasing(contexts, "contexts")
        entities = c.list(lambda c: (c.number32(), c.varint(), c.number(), c.number(), c.u8(), property_set(c)))
        increasing([e[0] for e in entities], "entities")
        need(all(e[0] >= 1 and e[1] >= 1 and e[2] >= 1 and 0 < e[4] < 8 for e in entities), "an entity of a block")
        need(sum(e[1] for e in entities) == total, "the changes of a block do not add up")
        count = self.count

        def column(read, required=True):
            inner = Cursor(section(c), c.budget)
            out = read(inner)
            inner.finish("a column")
            return out

        times = column(lambda c: integer_run(c, count))
        need(min(times) == least and max(times) - least == span, "timestamps other than the summary's")
        who = column(lambda c: integer_run(c, count))
        need(sorted(set(who)) == authors, "authors other than the summary's")
        where = column(lambda c: integer_run(c, count))
        need(sorted(set(where)) == contexts, "contexts other than the summary's")
        openings = column(lambda c: small_run(c, count, 0, (1 << 32) - 1, "openings"))
        counts = column(lambda c: small_run(c, count, 0, total, "counts"))
        need(sum(counts) == total, "the changes of a block do not add up")
        self.has_details = False

        def all_details(c):
            if c.end == 0:
                return [Details() for _ in range(count)]
            self.has_details = True
            return [Details(c) for _ in range(count)]

        details = column(all_details)
        need(self.form == 0 or self.part == 0 or not self.has_details, "details in a later part")
        places = column(lambda c: small_run(c, total, 0, len(entities) - 1, "places of entities"))
        per_entity = []
        for place, (number, n, low, span, kinds, properties) in enumerate(entities):
            need(places.count(place) == n, "another number of changes than the summary's")

            def read_shapes(c):
                out = c.list(lambda c: (c.u8(), property_set(c)))
                need(all(k < 3 for k, _ in out), "a shape of kind 3")
                need(len(set(out)) == len(out), "a shape that occurs twice")
                return out, property_set(c)

            shapes, reused = column(read_shapes)
            need(set(reused) <= set(properties), "a reused property that is not listed")
            which = column(lambda c: small_run(c, n, 0, len(shapes) - 1, "shapes"))
            need(len(set(which)) == len(shapes), "a shape that does not occur")
            rows = column(lambda c: small_run(c, n, low, low + span, "rows"))
            need(min(rows) == low and max(rows) == low + span, "rows other than the summary's")
            need(sum({1 << k for k, _ in shapes}) == kinds, "kinds other than the summary's")
            need(tuple(sorted({p for _, s in shapes for p in s})) == properties, "properties other than the summary's")
            columns = {}
            sets = [(k, frozenset(s)) for k, s in shapes]
            for p in properties:
                uses = [(at, sets[w][0]) for at, w in enumerate(which) if p in sets[w][1]]
                columns[p] = iter(self.values(column, uses, p in reused, rows, [sets[w][0] for w in which]))
            changes = []
            for w, row in zip(which, rows):
                kind, listed = shapes[w]
                changes.append((kind, number, row, [(p, *next(columns[p])) for p in listed]))
            per_entity.append(iter(changes))
        c.finish("a block record")
        ordered = [next(per_entity[place]) for place in places]
        self.transactions = []
        at = 0
        for i in range(count):
            self.transactions.append(Transaction(
                self.first + i, times[i], who[i], where[i], openings[i], details[i],
                ordered[at:at + counts[i]]))
            at += counts[i]


    def values(self, column, uses, is_reused, rows, kinds):
        """The values before and after of a property in the changes that list it; None where there is none."""
        sources = {}  # of the values before that earlier changes tell: the change, None for null
        if is_reused:
            latest = {}  # of each row: the latest change that lists the property or is an insert
            listing = dict(uses)
            for change, (row, kind) in enumerate(zip(rows, kinds)):
                if change in listing and kind != 0 and row in latest:
                    earlier = latest[row]
                    if earlier not in listing:
                        sources[change] = None
                    elif listing[earlier] != 2:
                        sources[change] = earlier
                if change in listing or kind == 0:
                    latest[row] = change
        nb = sum(1 for change, kind in uses if kind != 0 and change not in sources)
        na = sum(1 for _, kind in uses if kind != 2)
        if nb:
            before = iter(column(lambda c: value_column(c, nb)))
        elif any(kind != 0 for _, kind in uses):
            column(lambda c: None)
        if na:
            after = iter(column(lambda c: value_column(c, na)))
        told, out = {}, []
        for change, kind in uses:
            old = None
            if kind != 0:
                source = sources.get(change, -1)
                if is_reused:
                    met("reused value", 0 if source is None else 2 if source == -1 else 1)
                old = next(before) if source == -1 else None if source is None else told[source]
            new = next(after) if kind != 2 else None
            told[change] = new
            out.append((old, new))
        return out


# ---------------------------------------------------------------------------------- chunks of state


def made_from(steps, base):
    """The bytes of a large value that steps make from those of another one."""
    c = Cursor(steps)
    result, place = bytearray(), 0
    while c.at < c.end:
        n = c.varint()
        need(n > 1, "an empty step")
        if n % 2 == 0:
            result.extend(c.raw(n // 2))
            continue
        place += c.zigzag()
        need(0 <= place and place + n // 2 <= len(base), "a step that copies what is not there")
        result.extend(base[place:place + n // 2])
        place += n // 2
    return bytes(result)


def section(c):
    h = c.varint()
    n = h >> 2
    need(h & 3 < 2, "a compression of a newer version")
    met("section of compression", h & 3)
    if h & 3:
        stream = c.sized()
        need(n <= 1032 * len(stream) + 1031, "a section too long for its stream")
        c.budget[0] -= n
        need(c.budget[0] >= 0, "a payload decodes to too much")
        return inflate(stream, n)
    return c.raw(n)


def number_list(c, n):
    """An integer run in a section of its own; no section if there are no numbers."""
    if n == 0:
        return []
    inner = Cursor(section(c), c.budget)
    out = integer_run(inner, n)
    inner.finish("an integer run")
    return out


def small_list(c, n, low, high, what):
    out = number_list(c, n)
    need(all(low <= v <= high for v in out), what + " out of range")
    return out


def chunk_rows(c, first, n):
    form = c.u8()
    met("rows of form", form)
    if form == 0:
        offsets = list(range(n))
    elif form == 1:
        bits = section(c)
        need(len(bits) <= 512, "a set of rows of more than 512 bytes")
        offsets = [i * 8 + k for i, b in enumerate(bits) for k in range(8) if b >> k & 1]
    else:
        need(form == 2, "rows of form %d" % form)
        offsets = number_list(c, n)
        increasing(offsets, "rows")
    need(len(offsets) == n, "another number of rows than the header's")
    group = (first - 1) // 4096
    need(offsets[0] >= 0 and (first + offsets[-1] - 1) // 4096 == group, "a row of another group")
    return [first + o for o in offsets]


def chunk_header(c, content, entity, rule, first, count):
    need(c.u8() == content, "a chunk with other contents")
    met("chunk of contents", content)
    need(c.varint() == entity, "a chunk of another entity")
    if rule is not None:
        need(c.varint() == rule, "a chunk of another property")
    if first is not None:
        need(c.varint() == first, "a chunk with another first row")
    need(c.varint() == count, "a chunk with another count")


def references(data):
    need(len(data) % 12 == 0 and data, "references of %d bytes" % len(data))
    out = tuple(struct.unpack_from("<Iq", data, i) for i in range(0, len(data), 12))
    for e, r in out:
        check_reference(e, r)
    return out


def value_of_bytes(tag, data):
    """A value that a column of kind any, or one of bytes, keeps as bytes."""
    kind = check_tag(tag)
    met("bytes of kind", kind)
    if kind in (BOOL, INT, DATE, DOUBLE, DAY):
        need(len(data) == 8, "a value of %d bytes" % len(data))
        if kind == DOUBLE:
            return tag, double(data)
        n = int.from_bytes(data, "little", signed=True)
        if kind == DAY:
            day(n)
        need(kind != BOOL or n in (0, 1), "a bool of %d" % n)
        return (tag, bool(n)) if kind == BOOL else (tag, n)
    if kind == UUID:
        need(len(data) == 16, "a uuid of %d bytes" % len(data))
    if kind == OBJECT:
        need(len(data) == 12, "a reference of %d bytes" % len(data))
        return tag, references(data)[0]
    if kind == OBJECTS:
        return tag, references(data)
    if kind == DECIMAL:
        return tag, decimal(data)
    if kind == ERASED:
        need(not data, "an erased value of %d bytes" % len(data))
        return tag, None
    need(kind != NULL, "a null in a column")
    return tag, data


def bytes_values(c, kind, n):
    kinds = section(c) if kind == ANY else bytes([kind]) * n
    need(len(kinds) == n and all(k <= DAY for k in kinds), "another number of kinds, or unknown ones")
    tags = [tag_of(k) for k in kinds]
    large = [0] * n
    flag = c.u8()
    need(flag < 2, "large is %d" % flag)
    if flag:
        bits = section(c)
        large = unpack(bits, n, 1)
    run = Cursor(section(c), c.budget)
    values = byte_string_run(run, n)
    run.finish("a byte string run")
    need(sum(map(len, values)) <= MAX_DECODED, "values of more than 64 MiB")
    out = []
    for tag, data, is_large in zip(tags, values, large):
        if is_large:
            check_tag(tag | LARGE)
            need(len(data) == 20, "a large value's description of %d bytes" % len(data))
            met("large bytes of kind", tag)
            out.append((tag | LARGE, struct.unpack("<QQI", data)))
        else:
            out.append(value_of_bytes(tag, data))
    return out


def column_chunk(c, first, n):
    kind = c.u8()
    met("column chunk of kind", kind)
    rows = chunk_rows(c, first, n)
    if kind in (BOOL, INT, DATE, DAY):
        values = number_list(c, n)
        need(kind != BOOL or all(v in (0, 1) for v in values), "a bool other than 0 or 1")
        need(kind != DAY or all(FIRST_DAY <= v <= LAST_DAY for v in values), "a day beyond all days")
        out = [(tag_of(kind), bool(v) if kind == BOOL else v) for v in values]
    elif kind == DOUBLE:
        form = c.u8()
        need(form < 2, "doubles of form %d" % form)
        met("doubles of form", form)
        if form == 0:
            data = section(c)
        else:
            planes = [section(c) for _ in range(8)]
            need(all(len(p) == n for p in planes), "a section of another length")
            data = bytes(b for v in zip(*reversed(planes)) for b in v)
        need(len(data) == 8 * n, "a section of another length")
        out = [(kind, double(data[i:i + 8])) for i in range(0, 8 * n, 8)]
    elif kind == UUID:
        data = section(c)
        need(len(data) == 16 * n, "a section of another length")
        out = [(kind, data[i:i + 16]) for i in range(0, 16 * n, 16)]
    elif kind == OBJECT:
        entity = c.varint()
        targets = number_list(c, n)
        for r in targets:
            check_reference(entity, r)
        out = [(kind, (entity, r)) for r in targets]
    else:
        need(kind in (STRING, URL, DATA, JSON, OBJECTS, ANY, DECIMAL), "a column of kind %d" % kind)
        out = bytes_values(c, kind, n)
    c.finish("a column chunk")
    return rows, kind, out


# ---------------------------------------------------------------------------------- keys


def key_element(v, limit=None):
    tag, x = v
    head = bytes([tag])
    need(not tag & LARGE, "a large value in an index")
    if kind_of(tag) == DAY:
        return b"\x0b\0" + ((x & M64) ^ (1 << 63)).to_bytes(8, "big")
    if kind_of(tag) == DECIMAL:
        return b"\x0b" + x + b"\0"
    if tag == ERASED:
        return head
    if tag == BOOL:
        return head + bytes([x])
    if tag in (INT, DATE):
        return head + ((x & M64) ^ (1 << 63)).to_bytes(8, "big")
    if tag == DOUBLE:
        bits = struct.unpack(">Q", struct.pack(">d", x))[0]
        return head + (bits ^ (M64 if bits >> 63 else 1 << 63)).to_bytes(8, "big")
    if tag == UUID:
        return head + x
    if tag == OBJECT:
        return head + x[0].to_bytes(4, "big") + x[1].to_bytes(8, "big")
    need(tag in (STRING, URL, DATA, JSON), "a value of kind %d in an index" % tag)
    is_cut = limit is not None and len(x) > limit
    return head + (x[:limit] if is_cut else x).replace(b"\0", b"\0\xff") + (b"\0\1" if is_cut else b"\0\0")


# ---------------------------------------------------------------------------------- the state


class State:
    """objects: entity number to row to property number to value."""

    def __init__(self):
        self.number = 0
        self.schema = {}
        self.names = []
        self.openings = {}
        self.objects = {}
        self.next_rows = {}

    def define(self, entities):
        for e in entities:
            if e.partial:
                need(e.number in self.schema, "a change of entity %d, which was never defined" % e.number)
                e = self.schema[e.number].after(e)
            self.schema[e.number] = e

    def name(self, n):
        need(n <= len(self.names), "name %d is not known" % n)
        return self.names[n - 1] if n else None

    def apply(self, t):
        need(t.first == self.number + 1, "transaction %d follows %d" % (t.first, self.number))
        self.number = t.number
        d = t.details
        if d.names:
            need(d.names[0] == len(self.names) + 1, "names from %d follow name %d" % (d.names[0], len(self.names)))
            self.names += d.names[1]
        for opening in d.gap.openings if d.gap else []:
            need(opening[0] == len(self.openings) + 1, "opening %d follows %d" % (opening[0], len(self.openings)))
            self.openings[opening[0]] = opening
        if d.opening:
            need(d.opening[0] == len(self.openings) + 1, "opening %d follows %d" % (d.opening[0], len(self.openings)))
            self.openings[d.opening[0]] = d.opening
        self.name(t.author)
        self.name(t.context)
        need(t.opening == 0 or t.opening in self.openings, "opening %d is not known" % t.opening)
        self.define(d.schema)
        seen = set()
        for kind, entity, row, values in t.changes:
            where = "transaction %d, entity %d, row %d" % (t.number, entity, row)
            need((entity, row) not in seen, where + ": changed twice")
            seen.add((entity, row))
            definition = self.schema.get(entity)
            need(definition, where + ": an entity without definition")
            objects = self.objects.setdefault(entity, {})
            if kind == 0:
                # Each row is new, but neither the order of rows nor their having no gaps is promised.
                need(row not in objects, where + ": inserted twice")
                self.next_rows[entity] = max(self.next_rows.get(entity, 1), row + 1)
                new = {}
                for p, _, after in values:
                    need(after is not None, where + ": a null in an insert")
                    new[p] = after
                objects[row] = new
            else:
                need(row in objects, where + ": changed but not there")
                now = objects[row]
                if kind == 2:
                    need({p: b for p, b, _ in values} == now, where + ": a delete of another object")
                    del objects[row]
                    continue
                for p, before, after in values:
                    old = now.get(p)
                    if (before and before[0] & EDITS) or (after and after[0] & EDITS):
                        need(before and after and before[0] & EDITS and after[0] & EDITS, where + ": edits on one side")
                        after = self.edit(old, before[1], after[1], where)
                    else:
                        need(old == before and same_bits(old, before), where + ": an update of another value")
                        both = before and before[0] == ERASED
                        need(both or after != before or not same_bits(after, before), where + ": an update that changes nothing")
                    if after is None:
                        now.pop(p, None)
                    else:
                        now[p] = after
                values = [v for v in values if v[2] is not None]
            for p, _, after in values:
                prop = definition.properties.get(p)
                need(prop, where + ": a property without definition")
                need(prop.holds(kind_of(after[0])), where + ": a value of another type")

    @staticmethod
    def edit(old, removed, inserted, where):
        need(not old or old[0] == OBJECTS, where + ": edits of an erased list")
        items = list(old[1]) if old else []
        for position, entity, row in reversed(removed):
            need(position < len(items) and items[position] == (entity, row), where + ": removes what is not there")
            del items[position]
        for position, entity, row in inserted:
            need(position <= len(items), where + ": inserts behind the end")
            items.insert(position, (entity, row))
        return (OBJECTS, tuple(items)) if items else None


def same_bits(a, b):
    if a and b and a[0] == DOUBLE and b[0] == DOUBLE:
        return struct.pack("<d", a[1]) == struct.pack("<d", b[1])
    return True


# ---------------------------------------------------------------------------------- checkpoints


class Checkpoint:
    """A directory, and the state read from its chunks."""

    def __init__(self, file, offset):
        self.file, self.offset = file, offset
        # The chunks named so far, how long their frames are together, and where the last ends.
        self.named, self.chunk_length, self.chunk_end = set(), 0, LOG_START
        frame = file.frames.get(offset)
        need(frame and frame.kind == 5, "no checkpoint at %d" % offset)
        c = Cursor(frame.payload())
        self.number, self.flags = c.number(), c.u8()
        need(self.flags < 4, "unknown flags of a checkpoint")
        met_flags("directory flag", self.flags)
        self.timestamp, self.greatest = c.zigzag(), c.zigzag()
        self.opening, self.changes = c.u64(), c.number()
        self.schema = definitions(c)
        self.names = self.table(c, Cursor.string, 0)
        self.openings = self.table(c, lambda c: (c.number32(), c.u64(), c.zigzag(), c.string()), 1)
        self.next_value = c.varint()
        self.large_values = self.table(c, lambda c: (c.varint(), c.varint(), c.varint()), 2)
        self.schema_history = self.table(c, lambda c: (c.number(), definitions(c, True)), 3)
        self.history = self.table(c, lambda c: (c.number(), c.varint(), c.zigzag(), c.list(Cursor.number32)), 4)
        self.gaps = c.list(lambda c: (c.number(), c.zigzag(), Gap(c))) if self.flags & 2 else []
        need(bool(self.gaps) == bool(self.flags & 2), "an empty list of gaps")
        increasing([x for last, _, g in self.gaps for x in sorted({g.first, last})], "gaps")
        self.entities = c.list(self.entity)
        increasing([e[0] for e in self.entities], "entities of a checkpoint")
        area = extension_area(c)
        for tag in area:
            if tag in (2, 4, 5, 6, 8, 10, 12):
                met("directory tag", tag)
        self.jumps, self.older = 0, None
        if 12 in area:
            item = Cursor(area[12])
            self.jumps = item.number()
            item.finish("a count of clock jumps")
        if 2 in area:
            item = Cursor(area[2])
            self.older = item.varint(), item.number()
            item.finish("an older checkpoint")
        self.projections = {}
        if 10 in area:
            self.saved_projections(Cursor(area[10]))
        self.consumers = {}
        if 4 in area:
            item = Cursor(area[4])
            found = item.list(consumer)
            item.finish("consumers")
            need(0 < len(found) <= 1000 and all(value for _, value in found), "consumers of a checkpoint")
            increasing([name.encode() for name, _ in found], "names of consumers")
            self.consumers = dict(found)
        self.retention = (None, None)
        if 5 in area:
            item = Cursor(area[5])
            self.retention = retention(item)
            item.finish("a retention")
            need(self.retention != (None, None), "a retention of nothing in a checkpoint")
        self.tombstones = None
        if 6 in area:
            item = Cursor(area[6])
            after = item.number()
            refs = item.list(lambda c: (c.varint(), c.number32(), c.u32(), c.number(), c.number32()))
            item.finish("tombstones of a checkpoint")
            need(self.flags & 1 and after <= self.number, "tombstones beyond the base")
            counts = [ref[4] for ref in refs]
            need(all(counts) and [ref[3] for ref in refs] == [sum(counts[:n]) for n in range(len(counts))], "counts of tombstones")
            frames = [24 + (ref[1] + 7) // 8 * 8 for ref in refs]
            end = max([ref[0] + n for ref, n in zip(refs, frames)] + [LOG_START])
            need(sum(frames) <= end - LOG_START, "tombstones that overlap")
            self.tombstones = (after, refs)
        self.migrations = []
        if 8 in area:
            item = Cursor(area[8])
            while item.at < item.end:
                made = item.number()
                self.migrations.append((made, migration_name(item.sized())))
            numbers = [n for n, _ in self.migrations]
            need(numbers and numbers == sorted(numbers) and 0 < numbers[0] and numbers[-1] <= self.number, "the migrations of a checkpoint")
        c.finish("a checkpoint")
        need(self.chunk_length <= self.chunk_end - LOG_START, "chunks that overlap")

    def reference(self, c):
        ref = c.varint(), c.number32(), c.u32(), c.number(), c.number32()
        need(ref[0] not in self.named, "the chunk at %d named twice" % ref[0])
        self.named.add(ref[0])
        frame = 24 + (ref[1] + 7) // 8 * 8
        self.chunk_length += frame
        self.chunk_end = max(self.chunk_end, ref[0] + frame)
        return ref

    def saved_projections(self, c):
        """The states of projections by name, read if the list is of this file."""
        generation = c.number()
        found = c.list(lambda c: (
            c.string().encode(), c.number(), (c.varint(), c.number32(), c.u32(), c.number(), c.number32())))
        c.finish("a list of projections")
        need(1 <= len(found) <= 256, "no or too many projections")
        increasing([name for name, _, _ in found], "projections")
        need(all(1 <= len(name) <= 255 and ref[4] == 1 for name, _, ref in found), "a projection")
        frames = [24 + (ref[1] + 7) // 8 * 8 for _, _, ref in found]
        end = max(ref[0] + n for (_, _, ref), n in zip(found, frames))
        need(sum(frames) <= end - LOG_START, "chunks of projections that overlap")
        if generation != self.file.generation:
            return
        for name, version, ref in found:
            need(self.file.base <= ref[3] <= self.number, "a projection as of another time")
            chunk = self.chunk(ref)
            need(chunk.u8() == 6 and chunk.string().encode() == name, "the chunk of another projection")
            met("chunk of contents", 6)
            need((chunk.number(), chunk.number()) == (version, ref[3]), "the chunk of another projection")
            state = section(chunk)
            need(len(state) <= 16000000, "a projection that is too long")
            chunk.finish("the chunk of a projection")
            self.projections[name.decode()] = bytes(state)

    def references(self, c):
        out = c.list(self.reference)
        increasing([r[3] for r in out], "chunk references")
        return out

    def chunk(self, ref):
        offset, length, checksum, _, _ = ref
        frame = self.file.frames.get(offset)
        need(frame and frame.kind == 4 and offset < self.offset, "no chunk at %d" % offset)
        payload = frame.payload()
        need(len(payload) == length and crc(payload) == checksum, "another chunk at %d" % offset)
        return Cursor(payload)

    def table(self, c, read, number):
        out = []
        for ref in self.references(c):
            met("chunk of table", number)
            need(ref[3] == len(out), "a table with a gap")
            chunk = self.chunk(ref)
            items = chunk.list(read)
            chunk.finish("a chunk of a table")
            need(len(items) == ref[4], "a chunk of a table with another count")
            out += items
        return out + c.list(read)

    def listed(self, c, entity, property):
        """References to chunks, the first of which may lie in list chunks."""
        out = []
        for ref in self.references(c):
            chunk = self.chunk(ref)
            chunk_header(chunk, 5, entity, property, ref[3], ref[4])
            need(1 <= ref[4] <= 4096, "a list of %d references" % ref[4])
            found = [self.reference(chunk) for _ in range(ref[4])]
            chunk.finish("a list chunk")
            need(found[0][3] == ref[3], "a list that begins with another row")
            out += found
        out += self.references(c)
        increasing([r[3] for r in out], "chunk references")
        return out

    def entity(self, c):
        number, next_row, live = c.number32(), c.number(), c.number()
        rows = self.listed(c, number, 0)

        def column(c):
            p = c.number32()
            return p, self.listed(c, number, p)

        columns = c.list(column)
        increasing([p for p, _ in columns], "columns")

        def index(c):
            rule, count = c.number32(), c.number()
            return rule, count, c.list(lambda c: (self.reference(c), c.sized()))

        indexes = c.list(index)
        increasing([i[0] for i in indexes], "indexes")
        return number, next_row, live, rows, columns, indexes

    def state(self):
        s = State()
        s.number = self.number
        s.define(self.schema)
        s.names = list(self.names)
        s.openings = {o[0]: o for o in self.openings}
        for number, next_row, live, rows, columns, indexes in self.entities:
            where = "entity %d of the checkpoint at %d" % (number, self.offset)
            definition = s.schema.get(number)
            need(definition, where + ": no definition")
            objects = s.objects[number] = {}
            s.next_rows[number] = next_row
            for ref in rows:
                need((ref[3] - 1) % 4096 == 0 and ref[3] >= 1, where + ": rows that do not begin with their group")
                c = self.chunk(ref)
                chunk_header(c, 1, number, None, ref[3], ref[4])
                need(1 <= ref[4] <= 4096, where + ": an empty chunk")
                for row in chunk_rows(c, ref[3], ref[4]):
                    objects[row] = {}
                c.finish("a rows chunk")
            need(len(objects) == live, where + ": another number of objects")
            need(all(row < next_row for row in objects), where + ": a row beyond the next")
            for p, refs in columns:
                prop = definition.properties.get(p)
                need(prop, where + ": a column without definition")
                last = 0
                for ref in refs:
                    c = self.chunk(ref)
                    need(1 <= ref[4] <= 4096, where + ": an empty chunk")
                    chunk_header(c, 2, number, p, ref[3], ref[4])
                    found, kind, values = column_chunk(c, ref[3], ref[4])
                    need(found[0] > last, where + ": columns that overlap")
                    last = found[-1]
                    for row, v in zip(found, values):
                        need(prop.holds(kind_of(v[0])), where + ": a value of another type")
                        need(row in objects, where + ": a value of an object that is not there")
                        objects[row][p] = v
            rules = definition.rules()
            for rule, count, chunks in indexes:
                need(rule in rules, where + ": an index without a rule")
                self.check_index(definition, rule, count, chunks, objects, where)
        return s

    def check_index(self, definition, rule, count, chunks, objects, where):
        flags, properties, tests = definition.rules()[rule]
        unique = flags & 1 == 1
        passing = ((row, o) for row, o in objects.items() if definition.passes(tests, o))
        if flags == REFERENCES:
            keys = ((key, row) for row, o in passing for key in definition.reference_keys(properties[0][0], row, o))
        elif flags & 8:
            keys = ((definition.box_key(properties, row, o), row) for row, o in passing)
        else:
            keys = ((definition.key(unique, properties, row, o), row) for row, o in passing)
        keys = sorted((key, row) for key, row in keys if key is not None)
        need(len(keys) == count, where + ": an index with another number of entries")
        at = 0
        held_before = None
        for place, (ref, lowest) in enumerate(chunks):
            need(ref[3] == at and 1 <= ref[4] <= 16384, where + ": an index with a gap")
            need((lowest == b"") == (place == 0), where + ": a lowest key")
            c = self.chunk(ref)
            n = ref[4]
            chunk_header(c, 3 if unique else 4, definition.number, rule, None, n)
            need(c.u8() == 0, where + ": an unknown collation")
            shared = small_list(c, n, 0, MAX_PAYLOAD, "shared lengths")
            rest = small_list(c, n, 0, MAX_PAYLOAD, "lengths")
            data = section(c)
            rows = number_list(c, n)
            c.finish("an index chunk")
            need(sum(rest) == len(data) and shared[0] == 0, where + ": bytes of an index of another length")
            need(at + n <= len(keys), where + ": an index with too many entries")
            need(at == 0 or keys[at - 1][0] < lowest, where + ": a lowest key that is too low")
            need(lowest <= keys[at][0], where + ": a lowest key that is too high")
            position = 0
            held = b""
            for i in range(n):
                need(shared[i] <= len(held), where + ": more bytes shared than there are")
                held = held[:shared[i]] + data[position:position + rest[i]]
                position += rest[i]
                key, row = keys[at + i]
                need((key.startswith(held) if unique else key[:-5] == held) and row == rows[i], where + ": an entry of index %d other than the state's" % rule)
                if unique and held_before is not None:
                    need(held_before < held and not held.startswith(held_before), where + ": entries that do not tell their keys apart")
                held_before = held
            at += n
        need(at == count, where + ": an index with too few entries")


# ---------------------------------------------------------------------------------- the file


class Frame:
    __slots__ = ("file", "offset", "kind", "flags", "length", "checksum")

    def payload(self):
        at = self.offset + 24
        return self.file.data[at:at + self.length]


class File:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        self.required, self.optional = 0, 0
        self.read_header()
        self.slots = [s for s in (self.read_slot(0), self.read_slot(1)) if s]
        self.slot = max(self.slots, key=lambda s: s["sequence"], default=None)
        self.mark = self.slot["mark"] if self.slot else LOG_START
        self.walk()

    def read_header(self):
        data = self.data
        need(len(data) >= 8 and data[:8] == b"\x89ANLS\r\n\x1a", "not an Annals file")
        need(len(data) >= 4096, "the header is cut short")
        c = Cursor(data[:4096])
        c.raw(8)
        version, draft = c.u32(), c.u32()
        need((version, draft) <= (1, 0), "written by a newer version")
        need(not (version == 0 and 1 <= draft <= 3), "of an older draft")
        need(crc(data[:4092]) == int.from_bytes(data[4092:4096], "little"), "the header's checksum is wrong")
        need(version == 1, "a version that there never was")
        self.header_checksum = int.from_bytes(data[4092:4096], "little")
        self.required, self.optional = need_features(c)
        self.store, self.generation, self.base = c.raw(16), c.u64(), c.i64()
        self.created, self.base_timestamp = c.i64(), c.i64()
        self.base_checkpoint, self.pruned_at = c.u64(), c.i64()
        self.is_pruned, length = c.u8(), c.u8()
        need(c.raw(6) == bytes(6), "reserved bytes of the header")
        by = c.raw(64)
        need(any(self.store) and self.generation >= 1 and self.base >= 0, "fields of the header")
        need(self.base or (self.base_timestamp == 0 and self.base_checkpoint == 0), "a base of 0 with a state")
        need(self.is_pruned < 2 and length <= 64 and not any(by[length:]), "fields of the header")
        need(len(self.data) >= LOG_START, "the root slots are cut short")
        need(self.is_pruned or (length == 0 and self.pruned_at == 0), "pruned by, but not pruned")
        by[:length].decode("utf-8")
        need(not any(data[168:4092]), "reserved bytes of the header")
        need(self.base_checkpoint == 0 or (self.base_checkpoint >= LOG_START and self.base_checkpoint % 8 == 0), "offset of the base")

    def seed(self, offset):
        return crc(self.store + struct.pack("<QQ", self.generation, offset))

    def read_slot(self, i):
        """The slot, or None if it was never written or is not valid."""
        offset = 4096 + i * 4096
        raw = self.data[offset:offset + 4096]
        if len(raw) < 4096 or not any(raw) or raw[:8] != b"ANLSROOT":
            return None
        if crc(raw[:4092], self.seed(offset)) != int.from_bytes(raw[4092:], "little"):
            return None
        need_features(Cursor(raw[232:248]))
        names = ("sequence", "checkpoint", "number", "mark", "head", "mark_checksum", "extent")
        s = dict(zip(names, struct.unpack("<QQqQqIQ", raw[8:60])))
        need(s["sequence"] >= 1 and s["sequence"] % 2 == i, "a root slot in the wrong place")
        need(s["mark"] % 8 == 0 and s["mark"] >= LOG_START and s["mark"] > s["checkpoint"], "a mark of %d" % s["mark"])
        need(s["head"] >= s["number"] and s["extent"] >= s["mark"], "fields of a root slot")
        need(not any(raw[60:64]) and not any(raw[248:4092]), "reserved bytes of a root slot")
        need(raw[64:232] in (bytes(168), self.data[:168]), "another header in a root slot")
        return s

    def walk(self):
        """All frames up to the end of the log, chained and checked."""
        self.frames = {}
        at, previous, last = LOG_START, self.header_checksum, None
        allowed = {1: 0, 2: 2, 3: 2, 4: 0, 5: 0, 7: 1, 8: 1, 11: 1, 14: 1}
        while True:
            if at == self.mark and self.slot:
                need(self.slot["mark_checksum"] == previous, "the frame before the mark is another")
            frame, why = self.read_frame(at, previous)
            if frame is None:
                need(at >= self.mark, "damage at %d, before the mark at %d: %s" % (at, self.mark, why))
                break
            if frame.kind not in allowed:
                need(frame.flags & 1, "a frame of kind %d: written by a newer version" % frame.kind)
            else:
                need(frame.flags & ~allowed[frame.kind] == 0, "flags %d of a frame of kind %d" % (frame.flags, frame.kind))
            if frame.kind == 14:
                c = Cursor(frame.payload())
                required, optional = need_features(c)
                self.required |= required
                self.optional |= optional
                need(required or optional, "an announcement of nothing")
                need(frame.flags & 1 == (required == 0), "flags of an announcement")
            if frame.kind in allowed:
                met("frame of kind", frame.kind)
                met_flags("frame flag", frame.flags)
            self.frames[at] = frame
            previous = int.from_bytes(self.data[at:at + 4], "little")
            after = at + 24 + (frame.length + 7) // 8 * 8
            need(at >= self.mark or after <= self.mark, "the mark is within a frame")
            at = after
        self.end, self.why = at, why
        if self.slot and self.slot["extent"] > len(self.data):
            # Zeros behind the end may be lost; nothing else.
            need(at < len(self.data) and not any(self.data[at:]), "the file was cut: %d bytes of %d" % (
                len(self.data), self.slot["extent"]))

    def read_frame(self, at, previous):
        data = self.data
        if at + 24 > len(data):
            return None, "the file ends"
        head = data[at:at + 24]
        if not any(head):
            return None, "zeros"
        if crc(head[4:], self.seed(at)) != int.from_bytes(head[:4], "little"):
            return None, "header checksum"
        f = Frame()
        f.file, f.offset = self, at
        f.kind, f.flags, reserved, f.length, f.checksum, chain, back = struct.unpack("<BBHIIII", head[4:])
        need(reserved == 0 and f.kind != 0 and f.length <= MAX_PAYLOAD, "fields of the frame at %d" % at)
        need(back == 0xFFFFFFFF or (back % 8 == 0 and back <= at - LOG_START), "durable mark back at %d" % at)
        if chain != previous:
            return None, "chain"
        if at + 24 + (f.length + 7) // 8 * 8 > len(data):
            return None, "the file ends in a frame"
        if crc(f.payload(), self.seed(at)) != f.checksum:
            return None, "payload checksum"
        return f, None

    def transactions(self):
        """Every committed transaction, each with the offset of its first frame, large values counted.

        Large values are gathered on the way. Parts at the end without their last are no transaction."""
        self.large_values = {}
        self.consumers, self.consumers_at = {}, {}
        self.retention, self.retention_at = (None, None), {}
        self.tombstones, last_tombstone = {}, 0
        piece = None
        self.chains, self.pieces = {}, set()
        parts = None
        first_value = None
        number = self.base
        head_at_mark = self.base
        for at, frame in self.frames.items():
            if frame.kind == 3:
                c = Cursor(frame.payload())
                value, total, start = c.varint(), c.varint(), c.varint()
                if piece is None:
                    lost = total and start == total and not frame.flags & 2
                    need(start == 0 or lost, "a large value at %d that begins in its middle" % at)
                    need(value >= 1 and value not in self.large_values, "large value %d at %d twice" % (value, at))
                    piece = [value, total, bytearray(), at]
                    first_value = at if first_value is None else first_value
                    base = c.varint()
                    extension_area(c)
                    if lost:
                        c.finish("a lost large value")
                        self.large_values[value] = (at, None)
                        piece = None
                        continue
                need(piece[0] == value and piece[1] == total and len(piece[2]) == start, "a piece of large value %d at %d" % (value, at))
                data = section(c)
                if base:
                    need(base < value and not lost and not frame.flags & 2, "a base of large value %d" % value)
                    need(self.large_values.get(base, (0, None))[1] is not None, "large value %d is based on %d, which is not there" % (value, base))
                    need(base not in self.pieces, "large value %d is based on %d, which is in pieces" % (value, base))
                    count, length = self.chains.get(base, (1, len(self.large_values[base][1])))
                    self.chains[value] = (count + 1, length + total)
                    need(count < 32 and length + total <= 4194304, "large value %d is based on too much" % value)
                    data = made_from(data, self.large_values[base][1])
                piece[2].extend(data)
                c.finish("a piece of a large value")
                if frame.flags & 2:
                    self.pieces.add(value)
                if not frame.flags & 2:
                    need(len(piece[2]) == total, "large value %d is incomplete" % value)
                    self.large_values[value] = (piece[3], bytes(piece[2]))
                    piece = None
                continue
            begin = at if first_value is None else first_value
            need(piece is None, "a frame at %d between the pieces of a large value" % at)
            if frame.kind == 1:
                need(parts is None, "a transaction between the parts of another")
                found = [transaction_record(frame.payload())]
            elif frame.kind == 2:
                block = Block(frame.payload())
                if block.form == 0:
                    need(not frame.flags & 2 and parts is None, "a block at %d between the parts of another" % at)
                    found = block.transactions
                else:
                    t = block.transactions[0]
                    if parts is None:
                        need(block.part == 0, "part %d without those before" % block.part)
                        parts = [t, 1, begin]
                    else:
                        whole = parts[0]
                        need(block.part == parts[1], "part %d out of order" % block.part)
                        need((t.number, t.timestamp, t.author, t.context, t.opening) == (
                            whole.number, whole.timestamp, whole.author, whole.context, whole.opening), "parts of two transactions")
                        whole.changes += t.changes
                        parts[1] += 1
                    if frame.flags & 2:
                        continue
                    found, begin, parts = [parts[0]], parts[2], None
            else:
                need(parts is None, "a frame at %d between the parts of a transaction" % at)
                first_value = None if frame.kind in (5, 7, 8, 11, 14) else first_value
                if frame.kind == 7:
                    self.take_consumer(frame, number)
                elif frame.kind == 11:
                    need(frame.flags == 1, "tombstones that may not be skipped")
                    need(at < self.base_checkpoint, "tombstones behind the base")
                    records = tombstone_records(frame.payload())
                    need(records[0].number >= last_tombstone, "tombstones out of order")
                    last_tombstone = records[-1].number
                    need(last_tombstone <= self.base, "tombstones of history that is kept")
                    self.tombstones[at] = records
                elif frame.kind == 8:
                    c = Cursor(frame.payload())
                    self.retention = retention(c)
                    c.finish("a retention")
                    need(frame.flags == 1, "a retention that may not be skipped")
                elif frame.kind == 5:
                    if at == self.base_checkpoint:
                        base = Checkpoint(self, at)
                        self.consumers, self.retention = dict(base.consumers), base.retention
                        self.compare_tombstones(base)
                    self.consumers_at[at], self.retention_at[at] = dict(self.consumers), self.retention
                continue
            first_value = None
            for t in found:
                need(t.first == number + 1, "transaction %d where %d is due" % (t.first, number + 1))
                need(t.first == t.number or len(found) == 1, "a gap record among others")
                number = t.number
                if at < self.mark:
                    head_at_mark = number
                yield t, begin
        if self.slot:
            need(self.slot["head"] == head_at_mark, "head %d at the mark, not %d" % (self.slot["head"], head_at_mark))

    def compare_tombstones(self, base):
        after, refs = base.tombstones or (0, [])
        need([ref[0] for ref in refs] == list(self.tombstones), "other tombstones than the base names")
        for ref in refs:
            payload = self.frames[ref[0]].payload()
            need((len(payload), crc(payload, 0)) == ref[1:3], "the tombstones at %d are others" % ref[0])
            need(sum(len(t.changes) for t in self.tombstones[ref[0]]) == ref[4], "the count of the tombstones at %d" % ref[0])

    def take_consumer(self, frame, head):
        c = Cursor(frame.payload())
        name, found = consumer(c)
        c.finish("a consumer change")
        need(frame.flags == 1, "a consumer change that may not be skipped")
        if found is None:
            need(name in self.consumers, "the removal of an unknown consumer")
            del self.consumers[name]
        else:
            need(found[4] <= head, "a consumer that has seen %d of %d" % (found[4], head))
            self.consumers[name] = found
            need(len(self.consumers) <= 1000, "more than 1000 consumers")

    def gather_values(self):
        for _ in self.transactions():
            pass

    def greatest_timestamp(self):
        """The greatest timestamp of transactions up to the base."""
        return self.base_timestamp if self.base else -(1 << 63)

    def base_state(self):
        if self.base_checkpoint:
            c = Checkpoint(self, self.base_checkpoint)
            need(c.number == self.base and c.flags & 1, "the base's checkpoint is of %d" % c.number)
            need(c.greatest == self.greatest_timestamp(), "another base timestamp")
            return c.state()
        s = State()
        s.number = self.base
        return s

    def newest_checkpoint(self):
        found = [o for o, f in self.frames.items() if f.kind == 5]
        if self.slot and self.slot["checkpoint"]:
            need(self.slot["checkpoint"] in found, "no checkpoint at %d" % self.slot["checkpoint"])
        if not found:
            return None
        c = Checkpoint(self, found[-1])
        if self.slot and self.slot["checkpoint"] == found[-1]:
            need(self.slot["number"] == c.number, "the root slot names another checkpoint")
        return c

    def large(self, v):
        number, length, checksum = v[1]
        need(number in self.large_values, "large value %d is missing" % number)
        data = self.large_values[number][1]
        if data is None:
            return None  # lost before a salvage
        need(len(data) == length and crc(data) == checksum, "large value %d is another" % number)
        return data


# ---------------------------------------------------------------------------------- canonical text


ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
ESCAPES.update({chr(i): "\\u%04x" % i for i in range(32) if chr(i) not in ESCAPES})
TABLE = str.maketrans(ESCAPES)


def quoted(text):
    return '"' + text.translate(TABLE) + '"'


def plain(x):
    text = format(Decimal(repr(x)), "f")
    return text if "." in text else text + ".0"


def text_of(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Damage("a value that is not UTF-8")


def canonical_value(v, file, state):
    tag, x = v
    if tag == ERASED:
        return '{"$erased":true}'
    if tag & LARGE:
        x = file.large(v)
        if x is None:
            return "null"
    kind = kind_of(tag)
    if kind == DECIMAL:
        return decimal_text(x)
    if kind == DAY:
        return quoted(date_text(x * 86400000000)[:-len("T00:00:00Z")])
    if kind == BOOL:
        return "true" if x else "false"
    if kind == INT:
        return str(x)
    if kind == DOUBLE:
        return plain(x)
    if kind in (STRING, URL):
        return quoted(text_of(x))
    if kind == DATE:
        return quoted(date_text(x))
    if kind == UUID:
        return quoted(str(uuid.UUID(bytes=x)).upper())
    if kind == DATA:
        return quoted(base64.b64encode(x).decode())
    if kind == JSON:
        return quoted(text_of(x))
    if kind == OBJECT:
        return key_text(x, file, state)
    return "[" + ",".join(key_text(r, file, state) for r in x) + "]"


WRAPPERS = {DATE: "$date", UUID: "$uuid", URL: "$url", DATA: "$data", JSON: "$json",
            DECIMAL: "$decimal", DAY: "$day"}


def attribute_value(attribute, v, file, state):
    """Says the kind of a value that the attribute's type does not tell and JSON has no form for."""
    text = canonical_value(v, file, state)
    kind = kind_of(v[0])
    if kind == DECIMAL and attribute.type != kind:
        text = quoted(text)
    if text != "null" and kind in WRAPPERS and attribute.type != kind:
        return '{"%s":%s}' % (WRAPPERS[kind], text)
    return text


def date_text(us):
    seconds, fraction = divmod(us, 1000000)
    days, seconds = divmod(seconds, 86400)
    # Years that datetime lacks: 400 years of the calendar are 146,097 days.
    cycles, days = divmod(days + 719162, 146097)
    date = datetime.date.fromordinal(days + 1)
    year = date.year + 400 * cycles
    sign = "" if 0 <= year <= 9999 else "-" if year < 0 else "+"
    text = "%s%04d-%02d-%02dT" % (sign, abs(year), date.month, date.day)
    text += "%02d:%02d:%02d" % (seconds // 3600, seconds // 60 % 60, seconds % 60)
    return text + (".%06d" % fraction).rstrip("0").rstrip(".") + "Z"


def key_text(reference, file, state):
    """The key of the object, or its row if it has none or does not live."""
    entity, row = reference
    target = state.objects.get(entity, {}).get(row)
    key = target and unique_key(state.schema[entity], target, file, state)
    return key or '{"$row":%d}' % row


def with_defaults(definition, properties):
    """The values that an object shows: required attributes without one have their default."""
    missing = {
        a.number: a.default for a in definition.attributes
        if not a.flags & 9 and a.default is not None and a.number not in properties}
    return {**properties, **missing} if missing else properties


def object_key(definition, row, properties, file, state):
    """The key, else the row; and what objects are in the order of."""
    by_row = quoted("#%d" % row)
    key = unique_key(definition, properties, file, state, True) or by_row
    return key, by_row if "$erased" in key and key[0] == "{" else key


def unique_key(definition, properties, file, state, erased=False):
    """The attribute `id`, else the first that is unique; None if it has no value, or an erased one."""
    properties = with_defaults(definition, properties)
    unique = [a for a in definition.attributes if a.flags & 2 and not a.flags & 8]
    for a in sorted(unique, key=lambda a: a.name != "id"):
        if a.number in properties:
            if properties[a.number][0] == ERASED and not erased:
                return None
            return attribute_value(a, properties[a.number], file, state)
        break
    return None


def canonical(state, file):
    lines = []
    for number, objects in state.objects.items():
        definition = state.schema[number]
        if definition.flags & 1:
            continue
        # Values of a removed property stay in the state; they are not shown.
        names = {a.number: a.name for a in definition.attributes if not a.flags & 8}
        attributes = {a.number: a for a in definition.attributes}
        names.update({r.number: r.name for r in definition.relationships if not r.flags & 4})
        for row, stored in objects.items():
            properties = with_defaults(definition, stored)
            items = {
                names[p]: attribute_value(attributes[p], v, file, state)
                if p in attributes else canonical_value(v, file, state)
                for p, v in properties.items() if p in names}
            items = {k: v for k, v in items.items() if v != "null"}  # lost before a salvage
            key, order = object_key(definition, row, properties, file, state)
            items.setdefault("id", key)
            items["entity"] = quoted(definition.name)
            line = "{" + ",".join(quoted(k) + ":" + v for k, v in sorted(items.items())) + "}\n"
            lines.append((definition.name, json.loads(order) if order[0] == '"' else order, row, line))
    lines.sort(key=lambda l: l[:3])
    return "".join(l[3] for l in lines).encode("utf-8")


# ---------------------------------------------------------------------------------- commands


def replay(file, numbers):
    """Yields (n, state) for each of the numbers, rising."""
    state = file.base_state()
    numbers = sorted(set(numbers))
    need(not numbers or numbers[0] >= file.base, "transaction %d is before the base %d" % (numbers[0] if numbers else 0, file.base))
    todo = list(numbers)
    while todo and todo[0] == state.number:
        yield todo.pop(0), state
    for t, _ in file.transactions():
        state.apply(t)
        while todo and todo[0] == state.number:
            yield todo.pop(0), state
    need(not todo, "transaction %d is beyond the head %d" % (todo[0] if todo else 0, state.number))


def command_list(file):
    state = file.base_state()
    out = []
    for t, offset in file.transactions():
        state.apply(t)
        counts = [sum(1 for c in t.changes if c[0] == k) for k in range(3)]
        item = {
            "n": t.number, "timestamp_us": t.timestamp, "author": state.name(t.author),
            "context": state.name(t.context), "opening": t.opening,
            "metadata": {k: json.loads(canonical_value(v, file, state)) if v else None for k, v in t.details.metadata},
            "inserts": counts[0], "updates": counts[1], "deletes": counts[2],
            "schema": [e.name for e in t.details.schema], "frame": offset}
        out.append(json.dumps(item, ensure_ascii=False, separators=(",", ":")) + "\n")
    return "".join(out).encode("utf-8")


def base_migrations(file):
    return Checkpoint(file, file.base_checkpoint).migrations if file.base_checkpoint else []


def base_jumps(file):
    return Checkpoint(file, file.base_checkpoint).jumps if file.base_checkpoint else 0


def command_check(file):
    file.gather_values()
    checkpoints = {o: Checkpoint(file, o) for o, f in file.frames.items() if f.kind == 5}
    state = file.base_state()
    starts = {}
    found = list(file.transactions())
    schema_history = [file.base] if file.base and state.schema else []
    changes, jumps, greatest = 0, base_jumps(file), file.greatest_timestamp()
    info = {state.number: (None, greatest, 0, 0)}
    values = [v for t, _ in found for c in t.changes for p in c[3] for v in p[1:]]
    values += [v for c in checkpoints.values() for e in c.state().objects.values() for o in e.values() for v in o.values()]
    need(file.required & 2 or not any(v and v[0] == ERASED for v in values), "an erased value, which was not announced")
    need(file.optional & 1 << 36 or not any(t.details.group or t.details.undo for t, _ in found), "an undo that was not announced")
    migrations = list(base_migrations(file))
    need(file.optional & 1 << 37 or not (migrations or any(t.details.migrations for t, _ in found)), "a migration that was not announced")
    for offset, c in checkpoints.items():
        if c.older:
            need(c.older[0] in checkpoints and checkpoints[c.older[0]].number == c.older[1], "an older checkpoint that is not there")
            need(c.older[0] < offset, "an older checkpoint behind")
    todo = sorted(checkpoints.values(), key=lambda c: (c.number, c.offset))
    stamp = None

    def compare(c):
        s = c.state()
        where = "checkpoint at %d, as of %d" % (c.offset, c.number)
        mine = {e: o for e, o in state.objects.items() if o}
        other = {e: o for e, o in s.objects.items() if o}
        need(mine == other, where + ": another state than replayed")
        need(canonical(s, file) == canonical(state, file), where + ": another text than replayed")
        need(s.names == state.names, where + ": other names")
        need(s.openings == state.openings, where + ": other openings")
        need(set(s.schema) == set(state.schema), where + ": another schema")
        for e, n in state.next_rows.items():
            need(s.next_rows.get(e, 1) >= n, where + ": next row %d of entity %d, not %d" % (s.next_rows.get(e, 1), e, n))
        need(stamp is None or c.timestamp == stamp, where + ": another timestamp")
        need(c.greatest == greatest, where + ": another greatest timestamp")
        need(c.consumers == file.consumers_at[c.offset], where + ": other consumers")
        need(c.retention == file.retention_at[c.offset], where + ": another retention")
        need(c.migrations == migrations, where + ": other migrations")
        need(c.jumps == jumps, where + ": %d clock jumps, not %d" % (c.jumps, jumps))
        need(c.changes == changes, where + ": %d changes, not %d" % (c.changes, changes))
        for number, offset, length in c.large_values:
            need(number in file.large_values and file.large_values[number][0] == offset and (file.large_values[number][1] is None or len(file.large_values[number][1]) == length), where + ": another large value %d" % number)
            need(number < c.next_value, where + ": a large value beyond the next")
        need([n for n, _ in c.schema_history] == schema_history, where + ": another schema history")
        for (first, offset, most, entities), end in zip(c.history, [e[0] for e in c.history[1:]] + [c.number + 1]):
            need(first in starts, where + ": no transaction begins at history entry %d" % first)
            at = starts[first][0]
            need(offset == at, where + ": transaction %d begins at %d, not %d" % (first, at, offset))
            was = max(stamp for n, (_, stamp) in starts.items() if first <= n < end)
            need(was == most, where + ": the greatest timestamp from %d on is %d, not %d" % (first, was, most))

    while todo and todo[0].number <= state.number:
        compare(todo.pop(0))
    for t, offset in found:
        starts[t.number] = (offset, t.timestamp)
        state.apply(t)
        changes += len(t.changes)
        jumps += t.details.clock_jump
        for name in t.details.migrations:
            need(name not in [n for _, n in migrations], "the migration %r twice" % name)
            migrations.append((t.number, name))
        greatest = max(greatest, t.timestamp)
        stamp = t.timestamp
        if t.details.schema:
            schema_history.append(t.number)
        while todo and todo[0].number == state.number:
            compare(todo.pop(0))
    need(not todo, "a checkpoint beyond the head")
    for objects in state.objects.values():
        for o in objects.values():
            for v in o.values():
                if v[0] & LARGE:
                    file.large(v)
    return ("ok: base %d, head %d, %d frames, %d checkpoints, %d large values, log ends at %d of %d (%s), mark %d\n" % (
        file.base, state.number, len(file.frames), len(checkpoints), len(file.large_values), file.end, len(file.data), file.why, file.mark)).encode()


def main(arguments):
    if len(arguments) < 2 or arguments[1] not in ("state", "checkpoint", "list", "digest", "check", "both", "met"):
        sys.stderr.write(__doc__)
        return 2
    out = sys.stdout.buffer
    try:
        file = File(arguments[0])
        command = arguments[1]
        if command == "state":
            file.gather_values()
            for _, state in replay(file, [int(arguments[2])]):
                out.write(canonical(state, file))
        elif command == "digest":
            file.gather_values()
            numbers = [int(a) for a in arguments[2:]]
            if not numbers:
                numbers = [file.base] + [t.number for t, _ in file.transactions()]
            for n, state in replay(file, numbers):
                out.write(b"%d %s\n" % (n, hashlib.sha256(canonical(state, file)).hexdigest().encode()))
                out.flush()
        elif command == "checkpoint":
            checkpoint = file.newest_checkpoint()
            if not checkpoint:
                sys.stderr.write("reader: there is no checkpoint\n")
                return 3
            file.gather_values()
            out.write(canonical(checkpoint.state(), file))
        elif command == "list":
            file.gather_values()
            out.write(command_list(file))
        else:
            out.write(command_check(file))
            if command == "both":
                return main([arguments[0], "digest"])
            if command == "met":
                for path in arguments[2:]:
                    out.write(command_check(File(path)))
                for what, which in sorted(MET):
                    out.write(b"%s %d\n" % (what.encode(), which))
    except Damage as damage:
        sys.stderr.write("reader: %s\n" % damage)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
