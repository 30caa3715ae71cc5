import AnnalsModel
import Testing

/// Conditions as values: their equality, their combinations and their text.
@Suite struct ConditionTests {
  static let a = Condition.compare("a", .less, .int(1))
  static let b = Condition.text(["place", "name"], .begins, "mist", [.caseInsensitive])
  static let c = Condition.isNil("c")

  @Test(
    arguments: [
      (.always, "TRUEPREDICATE"), (.never, "FALSEPREDICATE"), (a, "a < 1"),
      (b, "place.name BEGINSWITH[c] \"mist\""), (c, "c == nil"), (c.negated, "c != nil"),
      (.all([a, .any([b, c])]), "a < 1 AND (place.name BEGINSWITH[c] \"mist\" OR c == nil)"),
      (.any([.all([a, c]), b]), "a < 1 AND c == nil OR place.name BEGINSWITH[c] \"mist\""),
      (.all([a, c]).negated.and(a.negated), "NOT (a < 1 AND c == nil) AND NOT a < 1"),
      (.isIn("x", []), "x IN {}"), (.isIn("x", [.null, .bool(true)]), "x IN {nil, TRUE}"),
      (.isBetween("x", .double(-1), .double(1e30)), "x BETWEEN {-1.0, 1e+30}"),
      (.compare("x", .notEqual, .double(.nan)), "x != DOUBLE(\"nan\")"),
      (.compare("x", .equal, .string("a\"\\\n\u{1}é")), "x == \"a\\\"\\\\\\n\\u{1}é\""),
      (
        .compare("x", .greater, .date(Timestamp(microseconds: 5))),
        "x > 1970-01-01T00:00:00.000005Z"
      ),
      (.compare([], .equal, .object(ObjectReference(entity: 1, row: 5))), "SELF == 1#5"),
      (
        .isIn("x", [.url("a:b"), .json("\"\""), .data([0, 255])]),
        "x IN {URL(\"a:b\"), JSON(\"\\\"\\\"\"), DATA(\"00FF\")}"
      ),
      (.text("x", .like, "a*", [.caseInsensitive, .diacriticInsensitive]), "x LIKE[cd] \"a*\""),
      (.text("x", .equals, "a", [.diacriticInsensitive]), "x ==[d] \"a\""),
      (.contains("x", ObjectReference(entity: 1, row: 5)), "x CONTAINS 1#5"),
      (.any("x", .isNil("a b").negated), "ANY x.`a b` != nil"),
      (.any(["x", "y"], c), "ANY x.y (c == nil)"),
      (.any("x", .any("y", c)).negated, "NOT ANY x (ANY y.c == nil)"),
      (.all([.any("x", .any([a, c])), a]), "ANY x (a < 1 OR c == nil) AND a < 1"),
      (.isNil("a b"), "`a b` == nil"), (.isNil("a.b"), "`a.b` == nil"),
      (.isNil("in"), "`in` == nil"),
      (.isNil("a`"), "`a``` == nil"), (.isNil("1a"), "`1a` == nil"),
      (.isNil("Größe"), "Größe == nil"),
    ] as [(Condition, String)])
  func isWrittenAsText(condition: Condition, text: String) {
    #expect(condition.description == text)
  }

  @Test func combinationsAreFlat() {
    let (a, b, c) = (Self.a, Self.b, Self.c)
    #expect(Condition.all([a, .all([b, c])]) == .all([a, b, c]))
    #expect(a.or(b).or(c) == .any([a, b, c]))
    #expect(a.and(b).or(c) != a.or(b).and(c))
    #expect(a.negated.negated == a)
    #expect(a.negated != a)
    #expect(Condition.always.negated == .never)
    #expect(Condition.all([] as [Condition]) == .always)
    #expect(Condition.any([] as [Condition]) == .never)
    #expect(Condition.all([a]) == a)
    #expect(Condition.compare("c", .equal, .null) == c)
    #expect(Condition.compare("c", .notEqual, .null) == c.negated)
    #expect(Condition.text("x", .equals, "y") == .compare("x", .equal, .string("y")))
  }

  /// A live list follows these; what is asked of the ids alone does not depend on their objects.
  @Test func dependenciesGoThroughToManys() {
    let object = ObjectReference(entity: 1, row: 5)
    let condition = Condition.any(
      ["x", "y"], .any([Self.a, .contains("z", object), .any("w", .always)])
    ).negated.and(Self.b)
    let paths: [PropertyPath] = [
      ["x", "y"], ["x", "y", "a"], ["x", "y", "z"], ["x", "y", "w"], ["place", "name"],
    ]
    #expect(condition.dependencies.map(\.path) == paths)
    #expect(condition.dependencies.map(\.isListed) == [false, false, true, false, false])
    #expect(condition.paths == [["x", "y"], ["place", "name"]])
  }

  /// The format has no membership: what a partial index would have to store is refused.
  @Test func membershipIsNoIndexCondition() {
    let object = ObjectReference(entity: 1, row: 5)
    for condition in [Condition.contains("x", object), .any("x", Self.c)] {
      for whole in [condition, condition.negated, Self.a.and(condition)] {
        let error = #expect(throws: IndexTest.Misfit.self) { try whole.indexTests() }
        #expect(
          error?.reason
            == "an index compares attributes of the object itself, and x is asked for its objects")
      }
    }
  }

  @Test func nilIsNoCondition() {
    let (a, b) = (Self.a, Self.b)
    let none: Condition? = nil
    #expect(a.and(none) == a)
    #expect(a.or(none) == a)
    #expect(Condition.all([none, a, none, b]) == a.and(b))
    #expect(Condition.any([none, a, none, b]) == a.or(b))
    #expect(Condition.all([none, none]) == nil)
    #expect(Condition.any([none]) == nil)
  }

  /// "é" in two forms is two texts, in names and in values.
  @Test func equalityIsByBytes() {
    let forms = ["\u{E9}", "e\u{301}"]
    #expect(Condition.isNil(PropertyPath(forms[0])) != .isNil(PropertyPath(forms[1])))
    #expect(Condition.text("x", .begins, forms[0]) != .text("x", .begins, forms[1]))
    let conditions = Set(forms.map { Condition.text("x", .begins, $0) })
    #expect(conditions.count == 2)
    #expect(conditions.contains(.text("x", .begins, forms[1])))
    #expect(PropertyPath(["a", "b"]) != PropertyPath(["ab"]))
  }

  @Test(
    arguments: [
      (.ascending("a"), "a", true), (.descending("a"), "-a", false),
      (.descending(["p", "n m"], nils: .first), "-p.`n m` NILS FIRST", true),
      (.ascending("a", nils: .last, textOrder: .caseInsensitive), "a[c] NILS LAST", false),
      (.ascending("a", textOrder: .localized), "a[l]", true),
      (.ascending("a", textOrder: .localized(in: "de_DE")), "a[l:de_DE]", true),
    ] as [(SortKey, String, Bool)])
  func sortKeys(key: SortKey, text: String, areNilsFirst: Bool) {
    #expect(key.description == text)
    #expect(key.areNilsFirst == areNilsFirst)
  }
}
