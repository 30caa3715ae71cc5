import AnnalsEngine
import AnnalsModel
import Foundation

// Moves in ordered to-many relationships of records.

extension WriteTransaction {
  /// Moves a reference in an ordered to-many relationship to another position: `try
  /// tx.move(\.items, of: list, from: 3, to: 0)`.
  ///
  /// Recorded as the move that it is: others' changes of the list, made meanwhile or undone later,
  /// do not meet it unless they move the same reference. `to` is the position afterwards. Throws
  /// `.invalidArgument` if the relationship is not ordered or has no such positions,
  /// `.noSuchObject` if the object does not exist. O(length of the list).
  public func move<R: Record, T: Record>(
    _ keyPath: KeyPath<R, [Reference<T>]>, of object: Object<R>, from: Int, to: Int
  ) throws(AnnalsError) {
    try move(try name(keyPath), of: object.objectID, from: from, to: to)
  }

  /// Moves the first reference to an object, as the other form does: `try tx.move(\.items, of:
  /// list, item, to: 0)`. Throws `.invalidArgument` if the list does not have the object.
  public func move<R: Record, T: Record>(
    _ keyPath: KeyPath<R, [Reference<T>]>, of object: Object<R>, _ element: Object<T>, to: Int
  ) throws(AnnalsError) {
    try move(try name(keyPath), of: object.objectID, element.objectID, to: to)
  }

  /// Moves several references, in their order, to before the one that is at a position now; the
  /// list's count stands for its end. What SwiftUI's `onMove` asks for. Throws as the other forms
  /// do.
  public func move<R: Record, T: Record>(
    _ keyPath: KeyPath<R, [Reference<T>]>, of object: Object<R>, fromOffsets offsets: IndexSet,
    toOffset offset: Int
  ) throws(AnnalsError) {
    try move(
      try name(keyPath), of: object.objectID, fromPositions: Array(offsets), toOffset: offset)
  }

  /// The store's name of a record type's property.
  private func name<R: Record>(_ keyPath: PartialKeyPath<R>) throws(AnnalsError) -> String {
    let binding = try binding(of: R.self)
    let property = binding.layout.columns[binding.position(of: keyPath)].property
    return schema.entity(numbered: binding.entity)?.propertyName(property) ?? ""
  }
}
