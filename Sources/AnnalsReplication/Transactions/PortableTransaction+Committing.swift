import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel

extension PortableTransaction {
  /// Commits the transaction to a replica's store, which has all transactions before it, for a
  /// caller that has the turn: the same number, date, author and opening, and where the log has it.
  /// Returns the position after it.
  ///
  /// Throws `ReplicationError.diverged` if it does not fit the store's state, and as a commit does.
  /// Then no trace remains.
  package func commit(to writer: StoreWriter, at sequence: UInt64) throws -> Token {
    var envelope = envelope
    SharedLogPlace(sequence: sequence, digest: ContiguousArray(digest.bytes))
      .append(to: &envelope.extensions)
    do {
      return try writer.append(envelope, numbered: number) { stage in
        if let misfit = names.misfit(in: stage.schema) {
          throw TransactionMisfit(number: number, reason: misfit)
        }
        let values = try addLargeValues(to: stage)
        for (index, part) in parts.enumerated() {
          let own = try localized(part, values, stage)
          try stage.add(own, isLast: index == parts.count - 1)
        }
      }
    } catch let misfit as TransactionMisfit {
      throw ReplicationError(
        .diverged,
        "\(misfit): this replica and the one that made it differ. Nothing was changed; make this "
          + "replica anew from a snapshot, and keep its file")
    }
  }

  private func addLargeValues(to stage: GivenStage) throws(AnnalsError) -> [LargeValue] {
    var result: [LargeValue] = []
    for (tag, range) in largeValues {
      let value: Result<LargeValue, AnnalsError> = bytes.withUnsafeBytes { bytes in
        Result { () throws(AnnalsError) in
          try stage.add(UnsafeRawBufferPointer(rebasing: bytes[range]), tag: tag)
        }
      }
      result.append(try value.get())
    }
    return result
  }

  /// A part of the transaction with the large values of this store: those that were just added, and
  /// those that its properties have.
  private func localized(
    _ part: ChangeBatch, _ values: [LargeValue], _ stage: GivenStage
  ) throws -> ChangeBatch {
    var result = part
    for change in part.changes {
      let object = ObjectReference(entity: change.entity, row: change.row)
      for index in change.propertyRange {
        let property = part.properties[index]
        if isErased, property.before.tag == .erased, !property.isEdits {
          // Here it may be there yet: the erasure takes it.
          let own = try stage.value(of: property.property, object)
          result.properties[index].before = ValueCell(own, appendingTo: &result.arena)
        }
        if property.before.isLarge {
          let said = part.largeValue(property.before)
          guard case .large(let own) = try stage.value(of: property.property, object), own == said
          else {
            throw TransactionMisfit(
              number: number, reason: "a large value was otherwise before it than it was")
          }
          result.describe(own, as: own.number, in: \.before, of: index)
        }
        if property.after.isLarge {
          let own = values[Int(part.largeValue(property.after).number) - 1]
          result.describe(own, as: own.number, in: \.after, of: index)
        }
      }
    }
    return result
  }
}
