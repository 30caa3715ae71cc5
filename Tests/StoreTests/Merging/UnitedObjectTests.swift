import Annals
import AnnalsModel
import Testing

/// Every policy with every pair of values that an inserted object and the stored one of the same
/// key can have: what becomes of them, and which conflicts are told.
@Suite struct UnitedObjectTests {
  private static let texts: [Value] = [.null, "a", "b"]
  private static let counts: [Value] = [.null, 1, 2]

  @Test(arguments: MergePolicy.allCases.filter { $0 != .error })
  func valuesAndConflictsAreThoseOfTheTable(_ policy: MergePolicy) throws {
    for text in UnitedObjectTests.texts {
      for count in UnitedObjectTests.counts {
        for theirs in UnitedObjectTests.texts {
          try check(policy, own: [text, count], stored: [theirs, 1])
        }
        try check(policy, own: [text, count], stored: ["a", .null])
      }
    }
  }

  private func check(_ policy: MergePolicy, own: [Value], stored: [Value]) throws {
    let store = try noteStore()
    let seen = store.token
    let theirs = try store.write {
      try $0.insert("Note", ["id": "x", "text": stored[0], "count": stored[1]])
    }
    let commit = try store.commit(basedOn: seen, merging: policy) {
      try $0.insert("Note", ["id": "x", "text": own[0], "count": own[1]])
    }
    let place = "\(policy), own \(own), stored \(stored)"
    let names = ["text", "count"]
    var wanted: [Value] = []
    var lost: [String] = []
    for (name, (mine, other)) in zip(names, zip(own, stored)) {
      let isKept =
        switch policy {
        case .error, .rollBack: true
        case .storedWins: !other.isNull
        case .ownWins: mine.isNull
        case .overwrite: false
        }
      wanted.append(isKept ? other : mine)
      // Lost is a value that one side has given, and that is not the result.
      let isMineLost = !mine.isNull && isKept
      let isOtherLost = !other.isNull && !isKept
      if mine != other, isMineLost || isOtherLost { lost.append(name) }
    }
    let found = try #require(try store.snapshot().object(theirs))
    #expect(names.map { found[$0] } == wanted, "\(place)")
    #expect(commit.mergedObjects == [commit.value: theirs], "\(place)")
    #expect(commit.conflicts.map { $0.property ?? "-" } == ["-"] + lost, "\(place)")
    for conflict in commit.conflicts {
      #expect(conflict.object == theirs && conflict.insertedAs == commit.value, "\(place)")
      #expect(conflict.changedBy == seen.number + 1 && !conflict.isDeletion, "\(place)")
      guard let index = names.firstIndex(of: conflict.property ?? "-") else { continue }
      #expect(conflict.base == nil, "\(place)")
      #expect(conflict.stored == stored[index] && conflict.own == own[index], "\(place)")
    }
  }
}
