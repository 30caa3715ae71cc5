import AnnalsModel

/// A value, or the address of its bytes; valid as long as the reader that gave it out.
@usableFromInline @frozen
package struct DirectCell {
  /// As in an arena that begins at address 0.
  @usableFromInline let cell: ValueCell

  @inline(__always)
  init(_ cell: ValueCell) { self.cell = cell }

  /// No value.
  package static var null: DirectCell { DirectCell(.null) }

  /// In place of a value that is no plain one: the reader must look again.
  static var notPlain: DirectCell { DirectCell(ValueCell(tag: .null, isLarge: true)) }

  /// Whether it is a value of this kind that is not kept elsewhere, or a null that stands for none.
  @inlinable @inline(__always)
  package func isPlain(_ tag: ValueTag) -> Bool { cell.plainTag == UInt32(tag.place) }

  /// Whether the value must be looked at again.
  @inlinable package var isNotPlain: Bool {
    @inline(__always) get { cell.isLarge }
  }

  /// A plain value without bytes.
  @inlinable package var bits: UInt64 {
    @inline(__always) get { cell.bits }
  }

  /// The object that a plain reference leads to.
  package var target: ObjectReference {
    ObjectReference(entity: cell.length, row: Int64(bitPattern: cell.bits))
  }

  /// The address of a plain value's bytes, at least one.
  @inlinable package var address: UnsafeRawPointer? {
    @inline(__always) get { UnsafeRawPointer(bitPattern: UInt(cell.bits)) }
  }

  /// A plain value's bytes.
  @inlinable package var bytes: UnsafeRawBufferPointer {
    @inline(__always) get { UnsafeRawBufferPointer(start: address, count: Int(cell.length)) }
  }

  /// The value with its bytes in an arena of their own.
  package var rowCell: RowCell {
    guard cell.usesArena else {
      return RowCell(cell: cell, arena: UnsafeRawBufferPointer(start: nil, count: 0))
    }
    var cell = cell
    cell.bits = 0
    return RowCell(cell: cell, arena: bytes)
  }
}

/// A column to read.
package struct WantedColumn {
  /// Its position in the table; nil if its values are not to be read.
  package var position: Int?
  /// Whether null means a default.
  package var hasDefault: Bool

  package init(_ position: Int?, hasDefault: Bool) {
    self.position = position
    self.hasDefault = hasDefault
  }
}
