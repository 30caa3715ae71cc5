/// One reference removed from or inserted into a to-many list, as `PropertyChange` has it in an
/// arena: the position, and the reference behind it, in `PropertyChange.editByteCount` bytes.
@usableFromInline @frozen
package struct ListEdit: Hashable, Sendable {
  @usableFromInline package var position: UInt32
  @usableFromInline package var reference: ObjectReference

  /// Reads the edit at `offset`.
  @inlinable
  package init(bytes: UnsafeRawBufferPointer, at offset: Int) {
    position = UInt32(
      littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    reference = ObjectReference(bytes: bytes, at: offset + 4)
  }

  /// Reads all edits in `bytes`.
  package static func list(in bytes: UnsafeRawBufferPointer) -> [ListEdit] {
    let width = PropertyChange.editByteCount
    return (0..<bytes.count / width).map { ListEdit(bytes: bytes, at: $0 * width) }
  }

  /// Appends the bytes of an edit.
  package static func append(
    position: Int, reference: ObjectReference, to arena: inout ContiguousArray<UInt8>
  ) {
    withUnsafeBytes(of: UInt32(position).littleEndian) { arena.append(contentsOf: $0) }
    reference.append(to: &arena)
  }
}
