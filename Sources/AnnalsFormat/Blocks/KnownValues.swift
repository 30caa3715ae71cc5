import AnnalsModel

/// Finds, for one property after another, the values before that a block leaves out since an
/// earlier change in it tells them.
///
/// FORMAT.md, "Block records": known values.
struct KnownValues {
  /// Where the value before of a property change is.
  enum Source: Equatable {
    /// Not in an earlier change.
    case unknown
    /// Null: the object was inserted without it.
    case null
    /// What the property change at this slot has after it.
    case slot(UInt32)
  }

  /// A change that lists a property.
  struct Use {
    /// The ordinal of the change among the entity's.
    var change: UInt32
    /// Where its property change is.
    var slot: UInt32
  }

  /// The latest change of an object that lists the property.
  private struct Latest {
    /// Which property this is about.
    var round: UInt32 = 0
    var isDelete = false
    var use = Use(change: 0, slot: 0)
  }

  /// Which changes tell nothing: inserts of objects that no other change in the block is of.
  private(set) var isLoneInsert: ContiguousArray<Bool>
  private let objects: BlockObjects
  private let kinds: ContiguousArray<ChangeKind>
  /// The latest insert of the same object before each change; -1 for none.
  private var inserts: ContiguousArray<Int32>
  private var latest: ContiguousArray<Latest>
  private var round: UInt32 = 0

  /// The known values of changes of these objects and kinds.
  init(_ objects: BlockObjects, kinds: ContiguousArray<ChangeKind>) {
    self.objects = objects
    self.kinds = kinds
    latest = ContiguousArray(repeating: Latest(), count: objects.count)
    inserts = ContiguousArray(repeating: -1, count: kinds.count)
    isLoneInsert = ContiguousArray(repeating: false, count: kinds.count)
    var changes = ContiguousArray<UInt32>(repeating: 0, count: objects.count)
    for ordinal in objects.ordinals { changes[Int(ordinal)] += 1 }
    var last = ContiguousArray<Int32>(repeating: -1, count: objects.count)
    for change in kinds.indices {
      let object = Int(objects.ordinals[change])
      inserts[change] = last[object]
      guard kinds[change] == .insert else { continue }
      last[object] = Int32(truncatingIfNeeded: change)
      isLoneInsert[change] = changes[object] == 1
    }
  }

  /// Hands on each change of a property that has a value before, with where that is. The uses are
  /// the changes that list the property, in order; lone inserts may be missing.
  mutating func forEach(
    _ uses: some Collection<Use>, _ body: (Use, Source) -> Void
  ) {
    round += 1
    for use in uses {
      let change = Int(use.change)
      let object = Int(objects.ordinals[change])
      if kinds[change] != .insert { body(use, source(of: change, latest[object])) }
      latest[object] = Latest(round: round, isDelete: kinds[change] == .delete, use: use)
    }
  }

  private func source(of change: Int, _ latest: Latest) -> Source {
    let insert = inserts[change]
    guard latest.round == round, Int32(truncatingIfNeeded: latest.use.change) >= insert else {
      return insert < 0 ? .unknown : .null
    }
    return latest.isDelete ? .unknown : .slot(latest.use.slot)
  }
}
