import AnnalsModel

/// Encodes and decodes a run of byte strings: string, url, data and json.
///
/// FORMAT.md, "Byte string runs".
enum BytesColumn {
  /// Appends the run, in whichever layout suits: the distinct values if they are few, patterns and
  /// numbers if these take two thirds, shared prefixes if they make up a quarter of the bytes, else
  /// plainly.
  static func encode(
    _ cells: UnsafeBufferPointer<ValueCell>, in arena: UnsafeRawBufferPointer,
    indexes: UnsafeMutableBufferPointer<Int64>, into bytes: inout ContiguousArray<UInt8>
  ) {
    guard !cells.isEmpty else { return }
    guard let distinct = DistinctValues(cells, in: arena, indexes: indexes) else {
      encodeEach(cells, in: arena, integers: indexes, into: &bytes, prefixesPay)
      return
    }
    bytes.append(ValuesLayout.distinct.rawValue)
    bytes.append(count: distinct.firsts.count)
    let list = ContiguousArray(distinct.firsts.map { cells[$0] })
    let lengths = UnsafeMutableBufferPointer<Int64>.allocate(capacity: list.count)
    defer { lengths.deallocate() }
    list.withUnsafeBufferPointer {
      encodeEach($0, in: arena, integers: lengths, into: &bytes, prefixesPay)
    }
    IntegerColumn.encode(UnsafeBufferPointer(indexes), into: &bytes)
  }

  /// Whether prefixes are left out in a block, of this many bytes shared and in all.
  private static func prefixesPay(shared: Int, total: Int, count: Int) -> Bool {
    shared > total / 4 + count
  }

  /// Appends the values one by one: by patterns and numbers if these take two thirds at most of
  /// what they would otherwise, which is without the prefixes that they share if those `pay`.
  static func encodeEach(
    _ cells: UnsafeBufferPointer<ValueCell>, in arena: UnsafeRawBufferPointer,
    integers: UnsafeMutableBufferPointer<Int64>, into bytes: inout ContiguousArray<UInt8>,
    _ pay: (_ shared: Int, _ total: Int, _ count: Int) -> Bool
  ) {
    let start = bytes.count
    encodePlainly(cells, in: arena, integers: integers, into: &bytes, pay)
    guard let texts = NumberedTexts(cells, in: arena) else { return }
    var numbered: ContiguousArray<UInt8> = []
    texts.encode(in: arena, integers: integers, into: &numbered, pay)
    guard numbered.count * 3 <= (bytes.count - start) * 2 else { return }
    bytes.replaceSubrange(start..., with: numbered)
  }

  /// Appends the values one by one, without the prefixes that they share if those `pay`.
  static func encodePlainly(
    _ cells: UnsafeBufferPointer<ValueCell>, in arena: UnsafeRawBufferPointer,
    integers: UnsafeMutableBufferPointer<Int64>, into bytes: inout ContiguousArray<UInt8>,
    _ pay: (_ shared: Int, _ total: Int, _ count: Int) -> Bool
  ) {
    var prefixes = ContiguousArray<Int64>()
    prefixes.reserveCapacity(cells.count)
    var shared = 0
    var total = 0
    let first = cells.first?.arenaRange.lowerBound ?? 0
    var isJoined = true
    var previous = UnsafeRawBufferPointer(start: nil, count: 0)
    for (index, cell) in cells.enumerated() {
      let value = UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange])
      let prefix = SharedPrefix.length(previous, value)
      prefixes.append(Int64(prefix))
      integers[index] = Int64(value.count)
      isJoined = isJoined && cell.arenaRange.lowerBound == first + total
      shared += prefix
      total += value.count
      previous = value
    }
    let isPrefixed = pay(shared, total, cells.count)
    bytes.append((isPrefixed ? ValuesLayout.prefixed : .plain).rawValue)
    IntegerColumn.encode(UnsafeBufferPointer(integers), into: &bytes)
    if isPrefixed {
      // The first shares nothing and would only widen the run.
      prefixes.withUnsafeBufferPointer {
        IntegerColumn.encode(UnsafeBufferPointer(rebasing: $0[1...]), into: &bytes)
      }
    }
    if isJoined, !isPrefixed {
      bytes.append(contentsOf: arena[first..<first + total])
      return
    }
    bytes.reserveCapacity(bytes.count + total)
    for (index, cell) in cells.enumerated() {
      let value = UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange])
      let rest = isPrefixed ? Int(prefixes[index]) : 0
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: value[rest...]))
    }
  }

  /// Reads as many values of this kind as `cells` has room for; their bytes go to the arena, which
  /// grows to no more than `arenaLimit`. Notes the texts that many share.
  static func decode(
    _ reader: inout ByteReader, tag: ValueTag, into cells: UnsafeMutableBufferPointer<ValueCell>,
    arena: inout ContiguousArray<UInt8>, arenaLimit: Int, integers: inout Scratch<Int64>,
    shared: inout SharedTexts
  ) throws(DecodeFault) {
    guard !cells.isEmpty else { return }
    var layout = try ValuesLayout.read(&reader)
    guard layout == .distinct else {
      try decodeEach(
        &reader, layout, tag: tag, into: cells, arena: &arena, arenaLimit: arenaLimit,
        integers: &integers)
      return
    }
    let count = try reader.readCount(limit: cells.count)
    layout = try ValuesLayout.read(&reader)
    guard count > 0, layout != .distinct else {
      throw reader.invalid("a list of distinct values that is none")
    }
    let distinct = UnsafeMutableBufferPointer<ValueCell>.allocate(capacity: count)
    defer { distinct.deallocate() }
    try decodeEach(
      &reader, layout, tag: tag, into: distinct, arena: &arena, arenaLimit: arenaLimit,
      integers: &integers)
    if tag != .data { shared.note(distinct, of: cells.count) }
    try ValuesLayout.spread(UnsafeBufferPointer(distinct), &reader, into: cells, &integers)
  }

  private static func decodeEach(
    _ reader: inout ByteReader, _ layout: ValuesLayout, tag: ValueTag,
    into cells: UnsafeMutableBufferPointer<ValueCell>, arena: inout ContiguousArray<UInt8>,
    arenaLimit: Int, integers: inout Scratch<Int64>
  ) throws(DecodeFault) {
    guard layout == .numbered else {
      return try decodePlainly(
        &reader, layout, tag: tag, into: cells, arena: &arena, arenaLimit: arenaLimit,
        integers: &integers)
    }
    try NumberedTexts.decode(
      &reader, tag: tag, into: cells, arena: &arena, arenaLimit: arenaLimit, integers: &integers)
  }

  /// Reads values in the layout `plain` or `prefixed`.
  static func decodePlainly(
    _ reader: inout ByteReader, _ layout: ValuesLayout, tag: ValueTag,
    into cells: UnsafeMutableBufferPointer<ValueCell>, arena: inout ContiguousArray<UInt8>,
    arenaLimit: Int, integers: inout Scratch<Int64>
  ) throws(DecodeFault) {
    var offset = UInt64(arena.count)
    let lengths = try readPlainly(
      &reader, layout, count: cells.count, arena: &arena, arenaLimit: arenaLimit,
      integers: &integers)
    for index in cells.indices {
      let length = UInt32(truncatingIfNeeded: lengths[index])
      cells[index] = ValueCell(tag: tag, bits: offset, length: length)
      offset += UInt64(length)
    }
  }

  /// Reads the bytes of `count` values, at least one, in the layout `plain` or `prefixed`; they are
  /// joined in the arena. Returns the lengths, which are valid until `integers` are used again.
  static func readPlainly(
    _ reader: inout ByteReader, _ layout: ValuesLayout, count: Int,
    arena: inout ContiguousArray<UInt8>, arenaLimit: Int, integers: inout Scratch<Int64>
  ) throws(DecodeFault) -> UnsafeMutableBufferPointer<Int64> {
    let isPrefixed = layout == .prefixed
    let numbers = integers.reserve(isPrefixed ? count * 2 : count)
    let lengths = UnsafeMutableBufferPointer(rebasing: numbers[..<count])
    let prefixes = UnsafeMutableBufferPointer(rebasing: numbers[count...])
    try IntegerColumn.decode(&reader, into: lengths)
    if isPrefixed {
      prefixes[0] = 0
      try IntegerColumn.decode(
        &reader, into: UnsafeMutableBufferPointer(rebasing: prefixes[1...]))
    }
    guard let sums = isPrefixed ? countBytes(lengths, prefixes) : countBytes(lengths) else {
      throw reader.invalid("a length that cannot be")
    }
    let bytes = try reader.readBytes(sums.own)
    guard sums.total <= arenaLimit - arena.count else {
      throw .tooLarge(at: reader.offset, limit: UInt64(FormatLimits.maximumDecodedLength))
    }
    if isPrefixed {
      appendPrefixed(
        bytes, prefixes: prefixes, lengths: lengths, total: sums.total, to: &arena)
    } else {
      arena.append(contentsOf: bytes)
    }
    return lengths
  }

  /// How many bytes values of these lengths take, of their own and in all; nil if a length is
  /// negative or beyond the limit.
  private static func countBytes(
    _ lengths: UnsafeMutableBufferPointer<Int64>
  ) -> (own: Int, total: Int)? {
    var sum: UInt64 = 0
    var greatest: UInt64 = 0
    for length in lengths {
      // A negative one is greater than all others.
      greatest = max(greatest, UInt64(bitPattern: length))
      sum &+= UInt64(bitPattern: length)
    }
    // So many of at most the limit do not overflow.
    guard greatest <= UInt64(FormatLimits.maximumDecodedLength) else { return nil }
    return (Int(sum), Int(sum))
  }

  /// The same of values that share so many bytes with the one before; nil also if one shares more
  /// than there are.
  private static func countBytes(
    _ lengths: UnsafeMutableBufferPointer<Int64>, _ prefixes: UnsafeMutableBufferPointer<Int64>
  ) -> (own: Int, total: Int)? {
    // Each length is checked before it is added: the sums cannot overflow.
    let limit = Int64(FormatLimits.maximumDecodedLength)
    var own = 0
    var total = 0
    var previous: Int64 = 0
    for index in lengths.indices {
      let length = lengths[index]
      let prefix = prefixes[index]
      guard length <= limit, prefix >= 0, prefix <= length, prefix <= previous else { return nil }
      previous = length
      own += Int(length - prefix)
      total += Int(length)
    }
    return (own, total)
  }

  /// Appends each value, made of what it shares with the one before and of its own bytes.
  private static func appendPrefixed(
    _ bytes: UnsafeRawBufferPointer, prefixes: UnsafeMutableBufferPointer<Int64>,
    lengths: UnsafeMutableBufferPointer<Int64>, total: Int, to arena: inout ContiguousArray<UInt8>
  ) {
    let start = arena.count
    arena.append(contentsOf: repeatElement(0, count: total))
    arena.withUnsafeMutableBytes { arena in
      guard let base = arena.baseAddress, let own = bytes.baseAddress else { return }
      var next = start
      var previous = start
      var taken = 0
      for index in lengths.indices {
        let prefix = Int(prefixes[index])
        let rest = Int(lengths[index]) - prefix
        (base + next).copyMemory(from: base + previous, byteCount: prefix)
        (base + next + prefix).copyMemory(from: own + taken, byteCount: rest)
        taken += rest
        previous = next
        next += prefix + rest
      }
    }
  }
}
