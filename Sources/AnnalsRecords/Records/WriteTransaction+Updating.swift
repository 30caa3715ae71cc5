import AnnalsEngine
import AnnalsModel
import AnnalsState

// Updating objects, by a closure on the newest record or by saving an edited one.

extension WriteTransaction {
  /// Updates an object: `body` gets its current record, with the transaction's own changes, and the
  /// properties that it changes are written.
  ///
  /// Throws `.noSuchObject` if the object does not exist, `.conflict` if it was deleted since the
  /// position that the write is based on, what `body` throws, and as `insert` does. Then nothing is
  /// changed, and the transaction may go on. One exception: if a partial update cannot be undone
  /// exactly (a large value of this transaction was replaced, a default that was never stored, or a
  /// to-one relationship that read as nil since its object was deleted), the transaction fails with
  /// the same error at its end.
  @discardableResult
  public func update<R: Record>(
    _ object: Object<R>, _ body: (inout R) throws -> Void
  ) throws -> Object<R> {
    try update(R.self, object.objectID, body)
  }

  /// Updates the object with this id, as `update(_:_:)` does.
  @discardableResult
  public func update<R: Record>(
    _ type: R.Type, _ id: ObjectID, _ body: (inout R) throws -> Void
  ) throws -> Object<R> {
    let binding = try binding(of: R.self)
    let current = try current(id, binding)
    var record = current
    try body(&record)
    try update(id, from: current, to: record, binding)
    return try written(id.row, binding, as: record)
  }

  /// Saves an edited object: writes the properties in which its record differs from what was read.
  ///
  ///     var edited = post
  ///     edited.title = "Misty Morning"
  ///     edited = try store.write(basedOn: snapshot.token, merging: .ownWins) { tx in
  ///       try tx.save(edited)
  ///     }
  ///
  /// What others have changed in other properties since the object was read stays. A property that
  /// both changed is set to the edited value; with `basedOn:` the write is refused instead, and
  /// with `merging:` the policy decides. An object that was not edited makes no change, nor does a
  /// value that the store has already. Go on with the returned object: the edited one still counts
  /// as changed what it has changed.
  ///
  /// Returns the object as it is stored; throws as `update(_:_:)` does.
  @discardableResult
  public func save<R: Record>(_ edited: Object<R>) throws(AnnalsError) -> Object<R> {
    let binding = try binding(of: R.self)
    let changed = edited.unchanged.map { binding.differences($0.value, edited.value) } ?? []
    return try save(edited.value, edited.objectID, only: changed, binding)
  }

  /// Saves a record that was not read from the store as the object with this id: writes all its
  /// properties but derived ones, whoever has changed them since.
  ///
  /// To write an object that was read and edited use `save(_:)`. A property that has the value
  /// already makes no change. Returns the object as it is stored; throws as `update(_:_:)` does.
  @discardableResult
  public func save<R: Record>(
    _ record: R, as id: ObjectID
  ) throws(AnnalsError) -> Object<R> {
    let binding = try binding(of: R.self)
    let layout = binding.layout
    let all = ContiguousArray(layout.columns.indices.filter { !layout.derived.contains($0) })
    return try save(record, id, only: all, binding)
  }

  private func save<R: Record>(
    _ record: R, _ id: ObjectID, only positions: ContiguousArray<Int>,
    _ binding: RecordBinding<R>
  ) throws(AnnalsError) -> Object<R> {
    let current = try current(id, binding)
    try update(id, from: current, to: record, only: positions, binding)
    for position in positions {
      let property = binding.layout.columns[position].property
      draft.noteAssignment(of: property, row: id.row, of: id.entity)
    }
    guard draft.violations.isEmpty else { return Object(objectID: id, value: record) }
    return Object(objectID: id, value: try stored(id.row, binding))
  }

  /// The current record of an object, with the transaction's own changes.
  func current<R: Record>(
    _ id: ObjectID, _ binding: RecordBinding<R>
  ) throws(AnnalsError) -> R {
    checkOpen()
    guard let object = try reader.object(id, binding) else { throw missing(id) }
    return object.value
  }

  /// Writes the properties, or those at some positions, in which a record differs from the object's
  /// current one; all of them or none.
  package func update<R: Record>(
    _ id: ObjectID, from current: R, to record: R, only positions: ContiguousArray<Int>? = nil,
    _ binding: RecordBinding<R>
  ) throws(AnnalsError) {
    try binding.checkComplete()
    let violationCount = draft.violations.count
    do throws(AnnalsError) {
      try binding.update(from: current, to: record, only: positions, id.row, into: &draft)
    } catch {
      draft.violations.removeLast(draft.violations.count - violationCount)
      if !undoUpdate(of: id.row, from: record, to: current, only: positions, binding) {
        _ = draft.fail(error)
      }
      throw error
    }
    draft.touch(id.entity, id.row)
  }

  /// Undoes an update that failed halfway. Returns false if the object cannot be restored exactly.
  private func undoUpdate<R: Record>(
    of row: Int64, from record: R, to previous: R, only positions: ContiguousArray<Int>?,
    _ binding: RecordBinding<R>
  ) -> Bool {
    // A null that stood for a default looks the same as the default.
    if binding.layout.columns.contains(where: { $0.hasDefault && !$0.isOptional }) { return false }
    let violationCount = draft.violations.count
    defer { draft.violations.removeLast(draft.violations.count - violationCount) }
    do throws(AnnalsError) {
      let written = try toOnes(of: row, binding)
      try binding.update(
        from: record, to: previous, only: positions, row, into: &draft, addingLargeValues: false)
      // A nil that stood for a deleted object looks the same as a stored nil.
      let cleared = zip(written, try toOnes(of: row, binding)).contains { !$0.isNull && $1.isNull }
      return draft.violations.count == violationCount && !cleared
    } catch {
      return false
    }
  }

  /// The stored values of an object's to-one relationships.
  private func toOnes<R: Record>(
    of row: Int64, _ binding: RecordBinding<R>
  ) throws(AnnalsError) -> [Value] {
    var result: [Value] = []
    for column in binding.layout.columns where column.isRelationship && !column.isToMany {
      result.append(
        try AnnalsError.translating {
          try reader.state.value(binding.entity, row, column.property)
        })
    }
    return result
  }
}
