import Annals
import AnnalsModel
import Testing

/// What an error, a plan or a commit lists is all there is, up to a limit: just below it, at it,
/// and beyond.
@Suite struct ToldLimitTests {
  private static let rules: [(name: String, value: @Sendable (Int) -> [String: Value])] = [
    ("range", { _ in ["name": "x", "number": 10] }),
    ("required", { _ in ["number": 1] }),
    ("finite", { _ in ["name": "x", "real": .double(.nan)] }),
    (
      "existing", { ["name": "x", "one": .object(ObjectReference(entity: 2, row: Int64($0) + 9))] }
    ),
    ("count", { _ in ["name": "x", "few": .objects([ObjectReference(entity: 2, row: 1)])] }),
  ]

  private func store() throws -> Store {
    let store = try Store(
      .memory,
      schema: Schema {
        Entity("Rule") {
          Attribute("name", .string, isOptional: false)
          Attribute(
            "number", .int64, validation: Validation(minimum: .int(0), maximum: .int(9)))
          Attribute("real", .double)
          Relationship("one", to: "Target", onDelete: .deny)
          Relationship("few", to: "Target", isToMany: true, onDelete: .keep, count: 2...3)
        }
        Entity("Target") {
          Attribute("name", .string)
          Attribute("real", .double)
        }
      }, environment: .fixed())
    let target = try store.write { try $0.insert("Target") }
    #expect(target.row == 1)
    return store
  }

  private static let two = Value.objects([
    ObjectReference(entity: 2, row: 1), ObjectReference(entity: 2, row: 2),
  ])

  private func violations(_ store: Store, _ body: (WriteTransaction) throws -> Void) -> Int? {
    let before = store.token
    let error = #expect(throws: AnnalsError.self) { try store.write(body) }
    #expect(error?.code == .invalidChange && store.token == before, "\(error?.message ?? "")")
    return error?.violations.count
  }

  @Test(arguments: rules.map(\.name)) func aThousandViolationsOfARule(_ name: String) throws {
    let store = try store()
    try store.write { _ = try $0.insert("Target") }
    let rule = try #require(Self.rules.first { $0.name == name })
    for count in [1, 999, 1_000, 1_001, 1_200] {
      let found = violations(store) { tx in
        for number in 1...count {
          var values = rule.value(number)
          if name != "count" { values["few"] = Self.two }
          try tx.insert("Rule", values)
        }
      }
      #expect(found == min(count, 1_000), "\(name), \(count)")
    }
  }

  @Test func aThousandDenials() throws {
    let store = try store()
    for count in [1, 999, 1_000, 1_001] {
      let targets = try store.write { tx in
        let targets = try (1...count).map { _ in try tx.insert("Target") }
        for target in targets {
          try tx.insert(
            "Rule",
            [
              "name": "x", "one": .object(ObjectReference(target)),
              "few": .objects([ObjectReference(target), ObjectReference(entity: 2, row: 1)]),
            ])
        }
        return targets
      }
      let found = violations(store) { tx in for target in targets { try tx.delete(target) } }
      #expect(found == min(count, 1_000), "\(count)")
    }
  }

  /// Each of them is told with the object that had the value before.
  @Test func collisionsWithANewUniqueRule() throws {
    for count in [1, 2, 999, 1_000, 1_001] {
      let store = try Store(
        .memory, schema: Schema { Entity("Target") { Attribute("real", .any) } })
      try store.write { tx in
        for number in 0..<count { try tx.insert("Target", ["real": .int(Int64(number))]) }
        for number in 0..<count { try tx.insert("Target", ["real": .double(Double(number))]) }
      }
      let error = #expect(throws: AnnalsError.self) {
        try store.require(
          Schema { Entity("Target") { Attribute("real", .any, isUnique: true) } })
      }
      let told = error?.violations ?? []
      #expect(told.count == min(count, 1_000), "\(count)")
      for (place, violation) in told.enumerated() {
        let rows = [Int64(count + place + 1), Int64(place + 1)]
        guard case .unique(let other) = violation.rule else {
          Issue.record("\(violation)")
          continue
        }
        #expect([violation.object?.row, other.row] == rows, "\(violation)")
      }
    }
  }

  @Test func conflictsOfWritesAndOfReverts() throws {
    for count in [1, 19, 20, 21, 40] {
      let store = try noteStore()
      let notes = try store.write { tx in
        try (1...count).map { try tx.insert("Note", ["id": .string("\($0)"), "count": 0]) }
      }
      try store.write { tx in for note in notes { try tx.update(note, ["count": 1]) } }
      let seen = store.token
      try store.write { tx in for note in notes { try tx.update(note, ["count": 2]) } }
      let error = #expect(throws: AnnalsError.self) {
        try store.write(basedOn: seen) { tx in
          for note in notes { try tx.update(note, ["count": 3]) }
        }
      }
      #expect(error?.conflicts.count == min(count, 20), "\(count)")
      #expect(error?.conflicts.allSatisfy { $0.changedBy == 4 } == true)
      let plan = try store.revertPlan(seen.number)
      #expect(plan.conflicts.count == min(count, 20), "\(count)")
    }
  }

  @Test func conflictsOfAMerge() throws {
    for count in [1, 999, 1_000, 1_001] {
      let store = try noteStore()
      let notes = try store.write { tx in
        try (1...count).map { try tx.insert("Note", ["id": .string("\($0)"), "count": 0]) }
      }
      let seen = store.token
      try store.write { tx in for note in notes { try tx.update(note, ["count": 2]) } }
      let conflicts = try store.commit(basedOn: seen, merging: .ownWins) { tx in
        for note in notes { try tx.update(note, ["count": 3]) }
      }.conflicts
      #expect(conflicts.count == min(count, 1_000), "\(count)")
      #expect(try store.snapshot().objects(of: "Note").allSatisfy { $0["count"] == 3 })
    }
  }
}
