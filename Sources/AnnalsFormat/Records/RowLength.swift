import AnnalsModel

extension ChangeBatch {
  /// About how many bytes the change at `index` takes by row: what writers cut blocks and parts by
  /// (`FormatLimits.partTarget`), and choose the form by (`rowFormLimit`). Parts cut at that target
  /// keep all limits of a frame, unless one change alone is beyond them.
  package func rowLength(ofChange index: Int) -> Int {
    let change = changes[index]
    var result = 4 + VarInt.length(UInt64(bitPattern: change.row))
    var last: PropertyNumber = 0
    properties.withUnsafeBufferPointer { properties in
      for property in properties[change.propertyRange] {
        if change.kind != .insert { result += ChangeBatch.rowLength(of: property.before) }
        if change.kind != .delete { result += ChangeBatch.rowLength(of: property.after) }
        last = property.property
      }
    }
    return result + Int(last) / 8
  }

  private static func rowLength(of cell: ValueCell) -> Int {
    switch cell.tag {
    case .null, .erased: 1
    case .bool: 2
    case .int, .date, .day: 1 + VarInt.length(VarInt.zigzag(Int64(bitPattern: cell.bits)))
    case .double: 9
    case .object: 3 + VarInt.length(cell.bits)
    case .string, .url, .data, .json, .uuid, .objects, .decimal: 3 + Int(cell.length)
    }
  }
}
