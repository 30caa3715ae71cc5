import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// The result of an erasure.
public struct ErasureSummary: Sendable {
  /// The position after the transaction that records the erasure.
  public let token: Token
  /// The size of the file before, in bytes.
  public let bytesBefore: UInt64
  /// The size of the file after, in bytes.
  public let bytesAfter: UInt64
}

extension Store {
  /// Erases an object: deletes it if it exists, and removes every value that it ever had from the
  /// file by rewriting the file.
  ///
  /// A transaction of its own records which object was erased, when, by whom and why. Everywhere
  /// else `Value.erased` replaces the object's before- and after-images: in history, in past
  /// states, in the base. Transactions, objects and all other values keep their numbers, and other
  /// objects keep their references to this one. Values over 4 KiB that other objects share stay
  /// with those. Saved states of projections are dropped, since they may contain anything.
  ///
  /// This applies to this file, once the last process has closed the old one. It does not reach
  /// copies, backups and exports, the disk blocks that the old file has freed, snapshots that
  /// programs hold, nor metadata, names of authors and contexts, defaults and the schema.
  ///
  /// Other writers wait meanwhile; another rewrite is waited for as long as `lockTimeout` says. A
  /// crash leaves the old file or the new one, whole. The old one
  /// may already contain the transaction; then `verify` reports that the erasure was not carried
  /// out. The same holds if this throws after the transaction: call it again.
  ///
  /// Pruning the transaction drops what it says; what was erased stays erased.
  ///
  /// Throws `.noSuchObject` for an object that never existed, `.invalidArgument` for an empty
  /// reason or one of more than 4,096 bytes, `.unsupported` if the saved state of a registered
  /// projection cannot be rebuilt because history was pruned; and as `write` and `compact` do.
  @discardableResult
  public func erase(
    _ object: ObjectID, reason: String, author: String? = nil
  ) throws(AnnalsError) -> ErasureSummary {
    try erase([object], reason: reason, author: author)
  }

  /// Erases objects, as the other form erases one, with one rewrite of the file.
  @discardableResult
  public func erase(
    _ objects: [ObjectID], reason: String, author: String? = nil
  ) throws(AnnalsError) -> ErasureSummary {
    var targets: [Erasure.Target] = []
    for reference in try objects.map(erasable).sortedAndUnique() {
      targets.append(Erasure.Target(reference))
    }
    return try erase(Erasure(targets, reason: reason), author: author)
  }

  /// Erases the values that an object has, or ever had, in properties with these names. The object
  /// stays, and has `Value.erased` there until another value is set.
  ///
  /// A property that was removed from the schema is erased by the name that it had last. Otherwise
  /// as the other forms. Also throws `.invalidArgument` for an unknown property.
  @discardableResult
  public func erase(
    _ object: ObjectID, properties: [String], reason: String, author: String? = nil
  ) throws(AnnalsError) -> ErasureSummary {
    let reference = try erasable(object)
    guard let entity = version.state.schema.entity(numbered: object.entity), !properties.isEmpty
    else { throw AnnalsError(.invalidArgument, "no property was named to erase") }
    var numbers: Set<PropertyNumber> = []
    for name in properties {
      let found = entity.erasableProperties(named: name)
      guard !found.isEmpty else { throw AnnalsError(.invalidArgument, entity.unknownName(name)) }
      numbers.formUnion(found)
    }
    let target = Erasure.Target(reference, properties: Array(numbers))
    return try erase(Erasure([target], reason: reason), author: author)
  }

  /// Erases the values that a record type's object has, or ever had, in one property; as the form
  /// with names.
  @discardableResult
  public func erase<R: Record, V>(
    _ keyPath: KeyPath<R, V>, of object: Object<R>, reason: String, author: String? = nil
  ) throws(AnnalsError) -> ErasureSummary {
    try erase(
      object.objectID, properties: [R.entity.propertyName(of: keyPath)], reason: reason,
      author: author)
  }

  /// The object; throws if no object ever had this id.
  private func erasable(_ object: ObjectID) throws(AnnalsError) -> ObjectReference {
    try refresh()
    let state = version.state
    guard object.store == version.store, object.row >= 1,
      object.row < state.nextRow(of: object.entity),
      state.schema.entity(numbered: object.entity) != nil
    else { throw .objectNotFound(object, in: state.schema, of: version.store) }
    return ObjectReference(object)
  }

  private func erase(
    _ erasure: Erasure, author: String?
  ) throws(AnnalsError) -> ErasureSummary {
    guard !erasure.reason.isEmpty, erasure.reason.utf8.count <= Erasure.longestReason else {
      throw AnnalsError(
        .invalidArgument,
        "an erasure needs a reason, of at most \(Erasure.longestReason) bytes; nothing was changed")
    }
    guard !erasure.targets.isEmpty else {
      throw AnnalsError(.invalidArgument, "there is nothing to erase")
    }
    // What is going to fail records nothing, and no other rewrite comes between the transaction and
    // the one that carries it out.
    let claim = try claimRewrite(until: .now.advanced(by: options.lockTimeout))
    defer { claim.release() }
    try projections.requireMakeable(in: version, for: "the file without what is erased")
    return try AnnalsError.narrowing {
      var origin = TransactionOrigin(author: author)
      origin.isAlwaysRecorded = true
      origin.erasure = erasure
      origin.features = .erasure
      let token = try writer.commit(origin) { try $0.erase(erasure) }
      do {
        let clock = environment.clock
        return try writer.writeAlone { try $0.carryOut(erasure, token, clock, claim) }
      } catch {
        var error = AnnalsError.wrapping(error)
        error.message += error.message.hasSuffix(".") ? "" : "."
        error.message +=
          " Transaction \(token.number) says what is to be erased, and the file still has the "
          + "values: erase it again"
        throw error
      }
    }
  }
}

extension Entity {
  /// The property of this name; if there is none, those of the name that were removed.
  package func erasableProperties(named name: String) -> [PropertyNumber] {
    if let number = propertyNumber(named: name) { return [number] }
    return removedProperties(named: name)
  }
}

extension WriteTransaction {
  /// Deletes the erased objects, and sets erased properties to erased values.
  fileprivate func erase(_ erasure: Erasure) throws(AnnalsError) {
    for target in erasure.targets {
      let object = target.object
      let lives = try AnnalsError.translating { () throws(StateFault) in
        try reader.state.contains(object.entity, object.row)
      }
      guard lives else { continue }
      if target.properties.isEmpty {
        try delete(object)
      } else {
        try AnnalsError.translating { () throws(StateFault) in try reader.state.erase(target) }
        touch(object.entity, object.row)
      }
    }
  }
}

extension StoreWriter {
  /// Rewrites the file without the values that the transaction at `token` has erased.
  fileprivate func carryOut(
    _ erasure: Erasure, _ token: Token, _ clock: @escaping () -> Timestamp, _ claim: RewriteClaim
  ) throws -> ErasureSummary {
    let version = newest
    let base = version.view.base
    var plan = RewritePlan(base: .keep, checkpoint: false, destination: .replace)
    plan.decodesState = true
    plan.clock = clock
    var lengths: [HistoryErasure.List: Int] = [:]
    if version.view.file.header.baseCheckpointOffset != 0 {
      let state = try version.stateForRewrite(at: base)
      for target in erasure.targets {
        let object = target.object
        for relationship in state.schema.entity(numbered: object.entity)?.relationships ?? [] {
          let length = try state.listLength(object.entity, object.row, relationship.number)
          if length > 0 { lengths[.init(object, relationship.number)] = length }
        }
      }
      plan.base = try version.base(of: state, erasing: erasure)
    }
    plan.erasure = HistoryErasure(erasure, through: token.number, lengths: lengths)
    let report = try log.rewrite(plan, of: version.view, under: claim).putInPlace()
    guard report.outcome == .done else {
      throw AnnalsError.conflict("the file was written to meanwhile by another process")
    }
    // The erasure is done and durable. If the new file cannot be read now, the next call tries
    // again.
    try? reload()
    try? renewCheckpoint(saving: [])
    return ErasureSummary(
      token: token, bytesBefore: report.bytesBefore,
      bytesAfter: max(report.bytesAfter, log.view.end))
  }
}

extension StoreVersion {
  /// The base of the file, without erased values.
  fileprivate func base(of state: State, erasing erasure: Erasure) throws -> RewritePlan.Base {
    let number = view.base
    let timestamp = view.file.header.baseTimestamp
    return .at(number: number, timestamp: timestamp, prunedAt: nil, prunedBy: "") { chunks in
      var image = state
      for target in erasure.targets { try image.erase(target) }
      for entity in Set(erasure.targets.map(\.object.entity)) {
        try image.remakeIndexes(of: entity)
      }
      return try image.writeBase(to: chunks, of: LogChunkSource(self.view.file))
    }
  }

  /// The erasures that were not carried out, in the order of their transactions. Reads the whole
  /// history, and what the state at the base has of their objects.
  package func unfinishedErasures() throws -> [UnfinishedErasure] {
    let erasures = try erasures(after: view.base)
    guard let last = erasures.last else { return [] }
    var found: [Int64: Int64] = [:]
    let state = try state(at: view.base)
    for (number, erasure) in erasures {
      if try erasure.targets.contains(where: { try state.hasValue(of: $0) }) {
        found[number] = view.base
      }
    }
    var cursor = try view.history(after: view.base, through: last.number)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) {
      for record in batch.transactions {
        for (number, erasure) in erasures where number >= record.number && found[number] == nil {
          if erasure.isLeft(in: record, of: batch) { found[number] = record.number }
        }
      }
    }
    return erasures.compactMap { number, erasure in
      found[number].map { UnfinishedErasure(number: number, erasure: erasure, found: $0) }
    }
  }
}

extension StoreVersion {
  /// The erasures of the transactions after this one, in order. Reads this history, if anything was
  /// ever erased.
  func erasures(after number: Int64) throws -> [(number: Int64, erasure: Erasure)] {
    guard view.features.contains(.erasure) else { return [] }
    var result: [(number: Int64, erasure: Erasure)] = []
    var cursor = try view.history(after: number, through: view.head.number)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) {
      for record in batch.transactions where record.part == 0 {
        if let erasure = ErasureCodec.erasure(of: record) {
          result.append((record.number, erasure))
        }
      }
    }
    return result
  }
}

/// An erasure that was recorded, and of which the file still has values.
package struct UnfinishedErasure: Sendable {
  /// The transaction that records it.
  package let number: Int64
  package let erasure: Erasure
  /// The first transaction that has such a value; that of the base if its state has one.
  package let found: Int64

  /// The finding about it.
  package var message: String {
    "transaction \(number) says what is erased, and transaction \(found) still has values of it: "
      + "the erasure was not carried out. Erase it again"
  }
}

extension Erasure {
  /// Whether a transaction still has a value that was to be erased.
  fileprivate func isLeft(in record: TransactionRecord, of batch: ChangeBatch) -> Bool {
    batch.changes[record.changeRange].contains { change in
      let object = ObjectReference(entity: change.entity, row: change.row)
      return targets.contains { target in
        target.object == object
          && batch.properties[change.propertyRange].contains { property in
            (target.properties.isEmpty || target.properties.contains(property.property))
              && [property.before, property.after].contains { !$0.isNull && $0.tag != .erased }
          }
      }
    }
  }
}
