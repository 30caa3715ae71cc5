import AnnalsEngine
import AnnalsModel

extension StoreVersion {
  /// A transaction of this file as a log that lost it gets it again: as it was, or, where values of
  /// it were erased since, what is left of it in the place of that. Nil if it did not come from a
  /// log, was pruned, or is otherwise in the file than the log had it.
  ///
  /// O(bytes of the transaction); reads the history after it if it is not as it was. Throws as
  /// reading history does.
  package func offering(_ number: Int64) throws(AnnalsError) -> PortableTransaction? {
    guard let (made, digest) = try remade(number) else { return nil }
    if made.digest == digest { return made }
    let isErased = try AnnalsError.translating {
      try erasures(after: number - 1).contains { made.hasLost($0.erasure) }
    }
    return isErased ? PortableTransaction(made, inPlaceOf: digest) : nil
  }
}

extension PortableTransaction {
  /// Whether an erased value of it is one that this erasure was to take.
  fileprivate func hasLost(_ erasure: Erasure) -> Bool {
    var targets: [ObjectReference: Set<PropertyNumber>] = [:]
    for target in erasure.targets { targets[target.object] = Set(target.properties) }
    return parts.contains { part in
      part.changes.contains { change in
        let object = ObjectReference(entity: change.entity, row: change.row)
        guard let erased = targets[object] else { return false }
        return part.properties[change.propertyRange].contains { property in
          (erased.isEmpty || erased.contains(property.property))
            && (property.before.tag == .erased || property.after.tag == .erased)
        }
      }
    }
  }
}
