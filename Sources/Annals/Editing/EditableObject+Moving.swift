import AnnalsEngine
import AnnalsModel
import Foundation

// Moves in ordered to-many relationships.

extension EditableObject {
  /// Moves a reference in an ordered to-many relationship to another position, as a step of the
  /// context; so does setting the array. Throws as `WriteTransaction.move(_:of:from:to:)` does.
  public func move<T: Record>(
    _ keyPath: KeyPath<R, [Reference<T>]>, from: Int, to: Int
  ) throws {
    try context.edit(stepName(keyPath)) { try $0.move(keyPath, of: object, from: from, to: to) }
  }

  /// Moves several references, in their order, to before the one that is at a position now: `onMove
  /// { try list.move(\.items, fromOffsets: $0, toOffset: $1) }`. Throws as the other form does.
  public func move<T: Record>(
    _ keyPath: KeyPath<R, [Reference<T>]>, fromOffsets offsets: IndexSet, toOffset offset: Int
  ) throws {
    try context.edit(stepName(keyPath)) {
      try $0.move(keyPath, of: object, fromOffsets: offsets, toOffset: offset)
    }
  }

  private func stepName(_ keyPath: PartialKeyPath<R>) -> String {
    "Change \(R.entity.propertyName(of: keyPath))"
  }
}
