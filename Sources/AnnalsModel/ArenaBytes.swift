// The layout of values in an arena. In memory only: FORMAT.md defines what files hold, though the
// two agree where that saves work.

extension RawUUID {
  /// Reads sixteen bytes in the order of the text form.
  @inlinable
  package init(bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count >= 16)
    self.init(
      high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
      low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }

  /// Appends the sixteen bytes in the order of the text form.
  @inlinable
  package func append(to arena: inout ContiguousArray<UInt8>) {
    withUnsafeBytes(of: high.bigEndian) { arena.append(contentsOf: $0) }
    withUnsafeBytes(of: low.bigEndian) { arena.append(contentsOf: $0) }
  }
}

extension ObjectReference {
  /// The count of bytes of one reference in an arena.
  @inlinable package static var byteCount: Int { 12 }

  /// Reads one reference of `byteCount` bytes at `offset`.
  @inlinable
  package init(bytes: UnsafeRawBufferPointer, at offset: Int) {
    let entity = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    let row = bytes.loadUnaligned(fromByteOffset: offset + 4, as: Int64.self)
    self.init(entity: UInt32(littleEndian: entity), row: Int64(littleEndian: row))
  }

  /// Appends the reference's `byteCount` bytes.
  @inlinable
  package func append(to arena: inout ContiguousArray<UInt8>) {
    withUnsafeBytes(of: entity.littleEndian) { arena.append(contentsOf: $0) }
    withUnsafeBytes(of: row.littleEndian) { arena.append(contentsOf: $0) }
  }

  /// Reads all references in `bytes`.
  package static func list(in bytes: UnsafeRawBufferPointer) -> [ObjectReference] {
    (0..<bytes.count / byteCount).map { ObjectReference(bytes: bytes, at: $0 * byteCount) }
  }
}

extension LargeValue {
  /// Reads the twenty bytes that describe a large value.
  package init(tag: ValueTag, description bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count >= ValueCell.largeDescriptionLength)
    self.init(
      tag: tag,
      number: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
      length: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
      checksum: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self)))
  }

  /// Appends the twenty bytes that describe the value.
  package func append(to arena: inout ContiguousArray<UInt8>) {
    withUnsafeBytes(of: number.littleEndian) { arena.append(contentsOf: $0) }
    withUnsafeBytes(of: length.littleEndian) { arena.append(contentsOf: $0) }
    withUnsafeBytes(of: checksum.littleEndian) { arena.append(contentsOf: $0) }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether both hold the same bytes; eight at a time, since most values are short.
  @inlinable
  package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    var offset = 0
    while count - offset >= 8 {
      let a = loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      let b = other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if a != b { return false }
      offset += 8
    }
    while offset < count {
      if self[offset] != other[offset] { return false }
      offset += 1
    }
    return true
  }
}
