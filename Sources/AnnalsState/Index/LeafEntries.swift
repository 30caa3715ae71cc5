import AnnalsFormat
import AnnalsModel

/// The entries of a leaf: as `IndexEntries`, but where all keys are equally long, as those of
/// numbers and dates are, nothing says where each ends. So an entry of a date takes 22 bytes.
struct LeafEntries: Sendable {
  /// The bytes of the keys, joined.
  let bytes: ContiguousArray<UInt8>
  let rows: ContiguousArray<Int64>
  /// Where each key ends in `bytes`; empty where all are equally long.
  private let ends: ContiguousArray<UInt32>
  /// How long each key is, where all are equally long; otherwise 0.
  private let length: Int

  /// How many entries there are.
  var count: Int { rows.count }

  init(_ entries: IndexEntries) {
    bytes = entries.bytes
    rows = entries.rows
    let length = Int(entries.ends.first ?? 0)
    var end: UInt32 = 0
    let isEven = entries.ends.allSatisfy {
      end &+= UInt32(length)
      return $0 == end
    }
    self.length = isEven ? length : 0
    ends = isEven && length > 0 ? [] : entries.ends
  }

  /// Entries whose keys are all equally long.
  private init(bytes: ContiguousArray<UInt8>, rows: ContiguousArray<Int64>, length: Int) {
    self.bytes = bytes
    self.rows = rows
    ends = []
    self.length = length
  }

  /// The same with the ends of the keys.
  var whole: IndexEntries {
    var result = IndexEntries()
    result.bytes = bytes
    result.rows = rows
    result.ends = ends
    if length > 0 {
      result.ends = ContiguousArray((0..<count).map { UInt32(($0 + 1) * length) })
    }
    return result
  }

  /// The bytes of an entry's key within `bytes`.
  @inline(__always)
  func range(_ index: Int) -> Range<Int> {
    if length > 0 { return index * length..<(index + 1) * length }
    return (index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])
  }

  /// Whether any key has more than so many bytes. O(1) where all are equally long.
  func hasKey(longerThan limit: Int) -> Bool {
    if length > 0 { return length > limit }
    return bytes.count > limit && (0..<count).contains { range($0).count > limit }
  }

  /// The entry whose held bytes begin the key, or else the one that the key would stand before.
  func place(of key: UnsafeRawBufferPointer) -> (index: Int, isHeld: Bool) {
    bytes.withUnsafeBytes { all in
      var low = 0
      var high = count
      while low < high {
        let middle = (low + high) / 2
        let held = UnsafeRawBufferPointer(rebasing: all[range(middle)])
        switch compare(key, held: held) {
        case .matches: return (middle, true)
        case .before: high = middle
        case .after: low = middle + 1
        }
      }
      return (low, false)
    }
  }

  /// The entry whose held bytes begin the key.
  func find(_ key: UnsafeRawBufferPointer) -> Int? {
    let place = place(of: key)
    return place.isHeld ? place.index : nil
  }

  /// The entries without one of them.
  func removing(_ index: Int) -> LeafEntries {
    let range = range(index)
    let (newBytes, newRows) = (bytes.removing(range), rows.removing(index..<index + 1))
    if length > 0 { return LeafEntries(bytes: newBytes, rows: newRows, length: length) }
    var new = IndexEntries()
    (new.bytes, new.rows) = (newBytes, newRows)
    new.ends.reserveCapacity(count - 1)
    new.ends.append(contentsOf: ends[..<index])
    let shift = UInt32(range.count)
    for end in ends[(index + 1)...] { new.ends.append(end - shift) }
    return LeafEntries(new)
  }

  /// The entries with another one, before the one at this index.
  func inserting(_ key: UnsafeRawBufferPointer, row: Int64, at index: Int) -> LeafEntries {
    let start = index == 0 ? 0 : range(index - 1).upperBound
    let newBytes = key.withMemoryRebound(to: UInt8.self) { bytes.inserting($0, at: start) }
    let newRows = withUnsafePointer(to: row) {
      rows.inserting(UnsafeBufferPointer(start: $0, count: 1), at: index)
    }
    if length > 0, key.count == length {
      return LeafEntries(bytes: newBytes, rows: newRows, length: length)
    }
    var new = IndexEntries()
    (new.bytes, new.rows) = (newBytes, newRows)
    new.ends.reserveCapacity(count + 1)
    for other in 0..<index { new.ends.append(UInt32(range(other).upperBound)) }
    new.ends.append(UInt32(start + key.count))
    for other in index..<count {
      new.ends.append(UInt32(range(other).upperBound + key.count))
    }
    return LeafEntries(new)
  }
}

extension ContiguousArray where Element: BitwiseCopyable {
  /// The elements without some of them.
  fileprivate func removing(_ range: Range<Int>) -> ContiguousArray {
    ContiguousArray(unsafeUninitializedCapacity: count - range.count) { buffer, new in
      withUnsafeBufferPointer { old in
        _ = buffer.initialize(fromContentsOf: old[..<range.lowerBound])
        _ = buffer[range.lowerBound...].initialize(fromContentsOf: old[range.upperBound...])
      }
      new = count - range.count
    }
  }

  /// The elements with others before the one at a place.
  fileprivate func inserting(
    _ others: UnsafeBufferPointer<Element>, at place: Int
  ) -> ContiguousArray {
    ContiguousArray(unsafeUninitializedCapacity: count + others.count) { buffer, new in
      withUnsafeBufferPointer { old in
        _ = buffer.initialize(fromContentsOf: old[..<place])
        _ = buffer[place...].initialize(fromContentsOf: others)
        _ = buffer[(place + others.count)...].initialize(fromContentsOf: old[place...])
      }
      new = count + others.count
    }
  }
}
