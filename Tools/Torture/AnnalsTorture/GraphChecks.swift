import Annals
import AnnalsModel

/// The undo stacks of an author as two lists that each transaction changes.
struct NaiveUndoStacks {
  /// What can be undone, and what can be redone: the first and the last number of each step.
  private(set) var done: [ClosedRange<Int64>] = []
  private(set) var undone: [ClosedRange<Int64>] = []
  private var open: String?

  /// Adds the next transaction of the author.
  mutating func add(_ transaction: Transaction) throws {
    let number = transaction.number
    if let numbers = transaction.undoes {
      guard done.last == numbers else {
        throw BrokenPromise("\(number) undoes \(numbers), and next was \(done)")
      }
      done.removeLast()
      undone.append(number...number)
      open = nil
    } else if let redone = transaction.redoes {
      guard undone.last == redone...redone else {
        throw BrokenPromise("\(number) redoes \(redone), and next was \(undone)")
      }
      undone.removeLast()
      done.append(number...number)
      open = nil
    } else {
      undone = []
      if let group = transaction.group, group == open, let last = done.popLast() {
        done.append(last.lowerBound...number)
      } else {
        done.append(number...number)
      }
      open = transaction.group
    }
  }
}

extension Store {
  /// The graph of a torture's store keeps its rules, and the undo stacks are those that its history
  /// makes; nothing is checked in a store without the graph.
  ///
  /// - Throws: `BrokenPromise`.
  func requireSoundGraph() throws {
    guard schema.entity(named: "Stop") != nil, base.number == 0 else { return }
    for finding in try verifyHistory() where finding.severity != .note {
      throw BrokenPromise("verify: \(finding.message)")
    }
    try requireReferences()
    var stacks: [String?: NaiveUndoStacks] = [:]
    try history().forEach { transaction in
      guard !transaction.changes.isEmpty || transaction.undoes != nil || transaction.redoes != nil
      else { return }
      try stacks[transaction.author, default: NaiveUndoStacks()].add(transaction)
    }
    for (author, wanted) in stacks {
      let found = try (
        undoable(author: author, limit: 1_000).map(\.numbers),
        redoable(author: author, limit: 1_000).map(\.numbers)
      )
      guard found.0 == wanted.done.reversed(), found.1 == wanted.undone.reversed() else {
        throw BrokenPromise(
          "\(author ?? "nobody") can undo \(found.0) and redo \(found.1), and should be able to "
            + "undo \(wanted.done) and redo \(wanted.undone), the last first")
      }
    }
  }

  /// No reference with a rule dangles, required ones are set, limits are kept, and the indexes of
  /// references give what a walk over the objects finds.
  private func requireReferences() throws {
    let snapshot = snapshot()
    let trips = try snapshot.objects(of: "Trip")
    let stops = try snapshot.objects(of: "Stop")
    let people = try snapshot.objects(of: "Person")
    let existing = Set((trips + stops + people).map { ObjectReference($0.objectID) })
    func require(_ objects: [DynamicObject], _ name: String) throws {
      for object in objects {
        for target in object[name].list where !existing.contains(target) {
          throw BrokenPromise("\(object.objectID).\(name) has an object that is gone")
        }
      }
    }
    try require(trips, "order")
    try require(people, "friends")
    for trip in trips where trip["order"].list.count > 4 {
      throw BrokenPromise("\(trip.objectID) has \(trip["order"].list.count) stops in order")
    }
    for person in people {
      guard case .object(let stop) = person["stop"], existing.contains(stop) else {
        throw BrokenPromise("\(person.objectID) is at no stop")
      }
    }
    for (entity, name, objects, targets) in [
      ("Stop", "trip", stops, trips), ("Stop", "after", stops, stops),
      ("Person", "stop", people, stops),
    ] {
      for target in targets {
        let reference = ObjectReference(target.objectID)
        let wanted = objects.filter { $0[name] == .object(reference) }.map(\.objectID)
        let fetch = DynamicFetch(entity).where(
          .compare(PropertyPath(name), .equal, .object(reference)))
        guard try snapshot.fetch(fetch).map(\.objectID) == wanted else {
          throw BrokenPromise("the index of \(entity).\(name) and its objects differ")
        }
      }
    }
  }
}
