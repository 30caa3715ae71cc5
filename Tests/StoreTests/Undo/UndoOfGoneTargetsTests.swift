import Annals
import AnnalsModel
import Testing

/// Undo and redo, by each policy, where others have deleted what a reference led to. By the rule
/// `keep` what dangles stays, and nothing new does: such an undo is refused. By another rule
/// nothing dangles.
@Suite struct UndoOfGoneTargetsTests {
  private enum Act: String, CaseIterable {
    case clear, replace, delete, shorten

    func run(_ tx: WriteTransaction, _ node: ObjectID, _ other: ObjectID) throws {
      switch self {
      case .clear: try tx.update(node, ["one": .null, "many": .null])
      case .replace:
        let other = ObjectReference(other)
        try tx.update(node, ["one": .object(other), "many": .objects([other])])
      case .delete: try tx.delete(node)
      case .shorten: try tx.update(node, ["many": .objects([ObjectReference(other)])])
      }
    }
  }

  @Test(arguments: [DeleteRule.keep, .nullify]) func whatIsUndone(_ rule: DeleteRule) throws {
    for act in Act.allCases {
      for policy in MergePolicy.allCases {
        let store = try Store(
          .memory,
          schema: Schema {
            Entity("Node") {
              Attribute("name", .string)
              Relationship("one", to: "Node", onDelete: rule)
              Relationship("many", to: "Node", isToMany: true, isOrdered: true, onDelete: rule)
            }
          }, environment: .fixed())
        let (node, target, other) = try store.write { tx in
          let target = try tx.insert("Node", ["name": "target"])
          let other = try tx.insert("Node", ["name": "other"])
          let list = Value.objects([ObjectReference(target), ObjectReference(other)])
          let values: [String: Value] = [
            "name": "node", "one": .object(ObjectReference(target)), "many": list,
          ]
          return (try tx.insert("Node", values), target, other)
        }
        try store.write(author: "ann") { try act.run($0, node, other) }
        try store.write(author: "bob") { try $0.delete(target) }
        let comment = "\(act), \(rule), \(policy)"
        do {
          try store.undo(author: "ann", merging: policy)
          #expect(rule != .keep, "\(comment)")
        } catch let error as AnnalsError {
          let code: AnnalsError.Code = rule == .keep ? .invalidChange : .conflict
          #expect(error.code == code && store.token.number == 4, "\(comment): \(error)")
          continue
        }
        let found = try #require(try store.snapshot().object(node), "\(comment)")
        if try store.snapshot().object(target) == nil {
          let targets = found["one"].targets + found["many"].targets
          #expect(!targets.contains(ObjectReference(target)), "\(comment)")
        }
        #expect(try store.problems() == [], "\(comment)")
        try store.redo(author: "ann", merging: policy)
        #expect(try store.problems() == [], "\(comment)")
      }
    }
  }
}
