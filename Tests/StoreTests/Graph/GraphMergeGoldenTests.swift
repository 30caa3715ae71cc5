import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

/// What two sides do to a parent and its child, by every policy: the result, and all that the
/// conflicts tell, as text.
@Suite struct GraphMergeGoldenTests {
  /// What one side does.
  private enum Side: String, CaseIterable {
    case deleteParent, deleteChild, count, countParent, adopt, move

    func act(_ tx: WriteTransaction, _ nodes: [ObjectID], _ name: String) throws {
      let (parent, child, other) = (nodes[0], nodes[1], nodes[2])
      switch self {
      case .deleteParent: try tx.delete(parent)
      case .deleteChild: try tx.delete(child)
      case .count: try tx.update(child, ["count": .int(Int64(name.count))])
      case .countParent: try tx.update(parent, ["count": .int(Int64(name.count))])
      case .adopt:
        try tx.insert(
          "Node", ["name": .string("of \(name)"), "to": .object(ObjectReference(parent))])
      case .move: try tx.update(child, ["to": .object(ObjectReference(other))])
      }
    }
  }

  @Test func resultsAndConflicts() throws {
    var text = ""
    for rule in [DeleteRule.cascade, .nullify, .deny] {
      for mine in Side.allCases {
        for theirs in Side.allCases {
          for policy in MergePolicy.allCases {
            text += try line(rule, policy, mine, theirs)
          }
        }
      }
    }
    let file = packageFolder.appending(path: "Tests/Golden/merges.txt")
    #expect(
      try text == golden(file, recording: text),
      "set ANNALS_RECORD to write it anew, and read what changed")
  }

  /// Two lines or more if there is a conflict or a refusal; nothing if the sides are not in each
  /// other's way.
  private func line(
    _ rule: DeleteRule, _ policy: MergePolicy, _ mine: Side, _ theirs: Side
  ) throws -> String {
    let place = "\(rule), \(policy), mine \(mine), theirs \(theirs)"
    let store = try Graph.store { Relationship($0, to: "Node", onDelete: rule) }
    let nodes = try store.nodes(["parent", "child", "other"])
    try store.connect([nodes[1]: nodes[0]])
    let seen = store.token
    do {
      try store.write(author: "them") { try theirs.act($0, nodes, "them") }
    } catch let error as AnnalsError where error.code == .invalidChange { return "" }
    var conflicts: [PropertyConflict] = []
    var outcome: String
    do {
      conflicts = try store.commit(author: "me", basedOn: seen, merging: policy) {
        try mine.act($0, nodes, "me")
      }.conflicts
      let lines = try store.snapshot().objects(of: "Node").map { node in
        let target = try node["to"].targets.first.map {
          try store.snapshot().object(ObjectID(store: seen.store, entity: $0.entity, row: $0.row))
        }
        let count = node["count"].isNull ? "" : " \(node["count"].plainText)"
        return node["name"].plainText + count
          + (target.map { " to \($0?["name"].plainText ?? "nothing")" } ?? "")
      }
      outcome = lines.joined(separator: ", ")
      guard !conflicts.isEmpty else { return "" }
    } catch let error as AnnalsError {
      conflicts = error.conflicts
      outcome = "\(error.code)"
      for violation in error.violations { outcome += "; \(violation)" }
    }
    #expect(try store.problems() == [], "\(place)")
    return "\(place): \(outcome)\n" + conflicts.map { "    \($0)\n" }.joined()
  }
}
