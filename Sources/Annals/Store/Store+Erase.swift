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
      let token = try writer.commit(origin) { try $0.draft.erase(erasure) }.token
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
}
