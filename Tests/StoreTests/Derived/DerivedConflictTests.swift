import Annals
import AnnalsModel
import Testing

/// What others have changed of an object by way of its derived attributes alone is no conflict of
/// a write that is based on the state before; what they have changed themselves is one.
@Suite struct DerivedConflictTests {
  private enum Theirs: CaseIterable {
    case insertEvent, moveEvent, deleteEvent, setAmount, rename

    func run(_ tx: WriteTransaction, _ red: ObjectID, _ blue: ObjectID, _ event: ObjectID) throws {
      switch self {
      case .insertEvent:
        try tx.insert("Event", ["title": "n", "line": .object(ObjectReference(red))])
      case .moveEvent: try tx.update(event, ["line": .object(ObjectReference(blue))])
      case .deleteEvent: try tx.delete(event)
      case .setAmount: try tx.update(event, ["amount": 9])
      case .rename: try tx.update(red, ["name": "Rouge"])
      }
    }
  }

  private enum Own: CaseIterable {
    case delete, rename, insertEvent

    func run(_ tx: WriteTransaction, _ red: ObjectID) throws {
      switch self {
      case .delete: try tx.delete(red)
      case .rename: try tx.update(red, ["name": "Rot"])
      case .insertEvent:
        try tx.insert("Event", ["title": "m", "line": .object(ObjectReference(red))])
      }
    }
  }

  @Test func onlyWhatOthersHaveSetThemselves() throws {
    for theirs in Theirs.allCases {
      for own in Own.allCases {
        let store = try derivedStore()
        let (red, blue, event) = try store.write { tx in
          let red = try tx.insert(DerivedLine(name: "red"))
          let blue = try tx.insert(DerivedLine(name: "blue"))
          let event = try tx.insert(DerivedEvent(title: "e", amount: 5, line: red.reference))
          return (red.objectID, blue.objectID, event.objectID)
        }
        let seen = store.token
        try store.write { try theirs.run($0, red, blue, event) }
        // Deleting the line clears the reference of its event.
        let clears = own == .delete && (theirs == .moveEvent || theirs == .insertEvent)
        let isConflict = theirs == .rename && own != .insertEvent
        do {
          try store.write(basedOn: seen) { try own.run($0, red) }
          #expect(!isConflict, "\(theirs), \(own)")
        } catch let error as AnnalsError {
          #expect(error.code == .conflict && (isConflict || clears), "\(theirs), \(own): \(error)")
          let objects = Set(error.conflicts.map { $0.objectName.prefix { $0 != "/" } })
          #expect(!isConflict || objects == ["Line"], "\(theirs), \(own): \(error)")
        }
        #expect(try store.problems() == [], "\(theirs), \(own)")
      }
    }
  }
}
