import Annals
import AnnalsInspector
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

/// Differences in which objects are deleted and others inserted under their keys.
@Suite(.deadline) struct DifferenceByKeyTests {
  private static let schema = Schema(entities: [
    Entity("Row", attributes: [Attribute("note", .string)]),
    Entity(
      "Term", attributes: [Attribute("id", .string, isUnique: true), Attribute("text", .string)]),
  ])

  /// A store in which keys of few change hands, and the texts of each key after each transaction.
  private func terms(_ folder: TemporaryFolder, seed: UInt64) throws -> [[String: String]] {
    var random = SeededRandom(seed: seed)
    var states: [[String: String]] = [[:]]
    try Store.with(path: folder.path("t.annals"), schema: DifferenceByKeyTests.schema) { store in
      while states.count <= Int(store.token.number) { states.append([:]) }
      for _ in 0..<40 {
        var now = states[states.count - 1]
        try store.write { tx in
          for _ in 0...random.below(3) {
            let (key, text) = ("k\(random.below(8))", "t\(random.below(4))")
            if let object = try tx.object(of: "Term", where: "id", is: .string(key))?.objectID {
              if random.chance(50) {
                try tx.delete(object)
                now[key] = nil
              } else {
                try tx.update(object, ["text": .string(text)])
                now[key] = text
              }
            } else {
              try tx.insert("Term", ["id": .string(key), "text": .string(text)])
              now[key] = text
            }
            // Objects without keys are told apart by number alone.
            for row in try tx.objects(of: "Row") { try tx.delete(row.objectID) }
            try tx.insert("Row", ["note": .string(text)])
          }
        }
        while states.count <= Int(store.token.number) { states.append(now) }
      }
    }
    return states
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func eachKeyHasOneEntry(_ seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let states = try terms(folder, seed: seed)
    let file = InspectedFile(
      name: "t", path: folder.path("t.annals"), shownPath: "t.annals")
    var replaced = 0
    for (from, to) in [(1, 41), (41, 1), (5, 30), (30, 5), (20, 21), (12, 40)] {
      let document = try Asking(
        file, RequestParameters([("from", "\(from)"), ("to", "\(to)"), ("entity", "Term")])
      ).difference()
      var found: [String: ShownChange] = [:]
      for change in document.changes {
        let key = change.object.name
        #expect(found.updateValue(change, forKey: key) == nil, "\(key) twice, seed \(seed)")
        if change.kind == "replace" { replaced += 1 }
      }
      for key in Set(states[from].keys).union(states[to].keys) {
        let (old, new) = (states[from][key], states[to][key])
        let change = found.removeValue(forKey: "Term/\(key)")
        switch (old, new) {
        case (nil, _): #expect(change?.kind == "insert", "\(key), seed \(seed)")
        case (_, nil): #expect(change?.kind == "delete", "\(key), seed \(seed)")
        default:
          let shown = change?.properties.first { $0.property == "text" }
          #expect(shown?.before?.text == (old == new ? nil : old), "\(key), seed \(seed)")
          #expect(shown?.after?.text == (old == new ? nil : new), "\(key), seed \(seed)")
          #expect(["update", "replace", nil].contains(change?.kind), "\(key), seed \(seed)")
          if change?.kind == "update" { #expect(old != new) }
        }
      }
      #expect(found.isEmpty, "\(found.keys), seed \(seed)")
      let terms = document.entities.first { $0.entity == "Term" }
      let kinds = document.changes.map(\.kind)
      #expect(terms?.replaces ?? 0 == kinds.count { $0 == "replace" })
      #expect(terms?.deletes ?? 0 == kinds.count { $0 == "delete" })
      #expect(document.entities.first { $0.entity == "Row" }?.replaces == nil)
    }
    #expect(replaced > 3, "seed \(seed)")
  }
}
