import AnnalsModel

/// Which of an entity's changes in a block are of the same object.
struct BlockObjects {
  /// The object of each change, as an ordinal from 0 in the order of their first changes.
  private(set) var ordinals: ContiguousArray<UInt32>
  /// The number of objects.
  private(set) var count = 0

  /// Rows that span more than this many times their number are looked up by hash.
  private static let sparsity = 4

  /// The objects of changes of these rows, none below the least or above the greatest.
  init(_ rows: UnsafeMutableBufferPointer<Int64>, from least: Int64, through greatest: Int64) {
    ordinals = ContiguousArray(repeating: 0, count: rows.count)
    let span = greatest - least
    if span < Int64(rows.count * BlockObjects.sparsity + 1024) {
      numberDense(rows, from: least, span: Int(span))
    } else {
      numberSparse(rows)
    }
  }

  private mutating func numberDense(
    _ rows: UnsafeMutableBufferPointer<Int64>, from least: Int64, span: Int
  ) {
    var found = ContiguousArray<UInt32>(repeating: .max, count: span + 1)
    found.withUnsafeMutableBufferPointer { found in
      ordinals.withUnsafeMutableBufferPointer { ordinals in
        for index in rows.indices {
          let place = Int(rows[index] - least)
          if found[place] == .max {
            found[place] = UInt32(truncatingIfNeeded: count)
            count += 1
          }
          ordinals[index] = found[place]
        }
      }
    }
  }

  private mutating func numberSparse(_ rows: UnsafeMutableBufferPointer<Int64>) {
    var found: [Int64: UInt32] = [:]
    found.reserveCapacity(rows.count)
    for index in rows.indices {
      let next = UInt32(truncatingIfNeeded: found.count)
      let ordinal = found[rows[index], default: next]
      if ordinal == next { found[rows[index]] = next }
      ordinals[index] = ordinal
    }
    count = found.count
  }
}
