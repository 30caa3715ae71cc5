import Annals
import AnnalsEngine
import AnnalsModel

extension Replica {
  /// Erases objects in every replica: deletes them, and removes every value that they ever had from
  /// each replica's file, as `Store.erase` does from one.
  ///
  /// This replica's file is rewritten before the call returns, those of others as they follow. What
  /// is derived from the values is erased with them, and then computed of what is left, in a
  /// transaction of its own. The shared log keeps the transactions that had the values, until it is
  /// trimmed behind a snapshot that was made after the erasure; so do older snapshots in it.
  ///
  /// - Returns: the position after the transaction that records it.
  /// - Throws: `.noSuchObject`, `.invalidArgument` as `Store.erase`; as `write`; and as a rewrite
  ///   of the file does. Then the transaction may be recorded: the file is rewritten when the
  ///   replica next catches up, or is opened.
  @discardableResult
  public func erase(
    _ objects: [ObjectID], reason: String, author: String? = nil
  ) async throws -> Token {
    let found = try await blocking { [writer] in try objects.map { try writer.erasable($0) } }
    var targets: [Erasure.Target] = []
    for object in Set(found).sorted() { targets.append(Erasure.Target(object)) }
    return try await erase(Erasure(targets, reason: reason), author)
  }

  /// Erases the values that an object has, or ever had, in properties with these names, in every
  /// replica. As the other form, and as `Store.erase` with names.
  @discardableResult
  public func erase(
    _ object: ObjectID, properties: [String], reason: String, author: String? = nil
  ) async throws -> Token {
    let reference = try await blocking { [writer] in try writer.erasable(object) }
    guard let entity = store.schema.entity(numbered: object.entity), !properties.isEmpty else {
      throw AnnalsError(.invalidArgument, "no property was named to erase")
    }
    var numbers: Set<PropertyNumber> = []
    for name in properties {
      let found = entity.erasableProperties(named: name)
      guard !found.isEmpty else {
        throw AnnalsError(.invalidArgument, "\(entity.name) has no property \(name)")
      }
      numbers.formUnion(found)
    }
    let target = Erasure.Target(reference, properties: Array(numbers))
    return try await erase(Erasure([target], reason: reason), author)
  }

  private func erase(_ erasure: Erasure, _ author: String?) async throws -> Token {
    let commit: Commit<Erasure>
    do {
      commit = try await submit { writer in
        let (proposed, whole) = try writer.propose(erasing: erasure, author: author)
        return (whole, proposed)
      }
    } catch let error as ReplicationError where error.code == .unavailable {
      throw ReplicationError(
        .unavailable,
        "\(error.message). An erasure needs the log, and never waits in the outbox: erase again "
          + "when it can be reached")
    }
    let whole = commit.value
    if whole.targets != erasure.targets {
      _ = try await submit { writer in
        ((), try writer.proposeDerivedAgain(whole, author: author))
      }
    }
    return commit.token
  }
}
