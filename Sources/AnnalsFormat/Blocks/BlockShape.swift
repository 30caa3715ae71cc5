import AnnalsModel

/// The shape of a change: its kind and the properties it lists, which many changes of an entity
/// share.
struct BlockShape: Equatable {
  var kind: ChangeKind
  /// The properties, rising.
  var properties: ContiguousArray<PropertyNumber>

  /// Appends a column's worth of shapes.
  static func encode(
    _ shapes: ContiguousArray<BlockShape>, into bytes: inout ContiguousArray<UInt8>
  ) {
    bytes.append(count: shapes.count)
    for shape in shapes {
      bytes.append(shape.kind.rawValue)
      PropertyVector.encode(shape.properties, into: &bytes)
    }
  }

  /// Reads at most `limit` shapes that together list at most as many properties as a frame may.
  static func decode(
    _ reader: inout ByteReader, limit: Int
  ) throws(DecodeFault) -> ContiguousArray<BlockShape> {
    var result: ContiguousArray<BlockShape> = []
    var rest = FormatLimits.maximumPropertyChanges
    for _ in 0..<(try reader.readCount(limit: limit, minimumLength: 2)) {
      guard let kind = ChangeKind(rawValue: try reader.readUInt8()) else {
        throw reader.newer("a kind of change")
      }
      let properties = try PropertyVector.decode(&reader, limit: rest)
      rest -= properties.count
      result.append(BlockShape(kind: kind, properties: properties))
    }
    return result
  }
}

/// Finds the distinct shapes of changes.
struct BlockShapeTable {
  private(set) var shapes: ContiguousArray<BlockShape> = []
  private var hashes: ContiguousArray<UInt64> = []
  private var table = ContiguousArray<Int32>(repeating: -1, count: 64)
  private var last = 0

  /// The ordinal of the change's shape, which is added if it is new.
  mutating func ordinal(
    of change: ChangeEntry, _ properties: UnsafeBufferPointer<PropertyChange>
  ) -> Int {
    let run = UnsafeBufferPointer(rebasing: properties[change.propertyRange])
    // Neighbours mostly have the same shape.
    if !shapes.isEmpty, matches(last, change.kind, run) { return last }
    var hash = UInt64(change.kind.rawValue)
    for property in run { hash = mix(hash ^ UInt64(property.property)) }
    var slot = Int(truncatingIfNeeded: hash) & (table.count - 1)
    while table[slot] >= 0 {
      let ordinal = Int(table[slot])
      if hashes[ordinal] == hash, matches(ordinal, change.kind, run) {
        last = ordinal
        return ordinal
      }
      slot = (slot + 1) & (table.count - 1)
    }
    last = shapes.count
    table[slot] = Int32(last)
    hashes.append(hash)
    shapes.append(
      BlockShape(kind: change.kind, properties: ContiguousArray(run.map(\.property))))
    if shapes.count * 2 > table.count { grow() }
    return last
  }

  private func matches(
    _ ordinal: Int, _ kind: ChangeKind, _ run: UnsafeBufferPointer<PropertyChange>
  ) -> Bool {
    let shape = shapes[ordinal]
    guard shape.kind == kind, shape.properties.count == run.count else { return false }
    for index in run.indices where run[index].property != shape.properties[index] { return false }
    return true
  }

  private mutating func grow() {
    table = ContiguousArray(repeating: -1, count: table.count * 4)
    for (ordinal, hash) in hashes.enumerated() {
      var slot = Int(truncatingIfNeeded: hash) & (table.count - 1)
      while table[slot] >= 0 { slot = (slot + 1) & (table.count - 1) }
      table[slot] = Int32(ordinal)
    }
  }
}
