import AnnalsModel

extension NumberedTexts {
  /// Reads as many texts of this kind as `cells` has room for; their bytes go to the arena, which
  /// grows to no more than `arenaLimit`, less the bytes of the patterns.
  static func decode(
    _ reader: inout ByteReader, tag: ValueTag, into cells: UnsafeMutableBufferPointer<ValueCell>,
    arena: inout ContiguousArray<UInt8>, arenaLimit: Int, integers: inout Scratch<Int64>
  ) throws(DecodeFault) {
    let count = try reader.readCount(limit: cells.count)
    guard count > 0 else { throw reader.invalid("an empty list of patterns") }
    let parts = UnsafeMutableBufferPointer<ValueCell>.allocate(capacity: count * 2)
    defer { parts.deallocate() }
    let room = arenaLimit - arena.count
    var texts: ContiguousArray<UInt8> = []
    // First the prefixes, then the suffixes.
    for half in 0..<2 {
      let layout = try ValuesLayout.read(&reader)
      guard layout == .plain || layout == .prefixed else {
        throw reader.invalid("patterns in another layout than plain or prefixed")
      }
      let place = UnsafeMutableBufferPointer(rebasing: parts[half * count..<(half + 1) * count])
      try BytesColumn.decodePlainly(
        &reader, layout, tag: tag, into: place, arena: &texts, arenaLimit: room,
        integers: &integers)
    }
    let least = integers.reserve(count)
    try IntegerColumn.decode(&reader, into: least)
    for digits in least where !(0...Int64(mostDigits)).contains(digits) {
      throw reader.invalid("a count of digits beyond 18")
    }
    let digits = ContiguousArray(least)
    let scratch = integers.reserve(cells.count * 2)
    let indexes = UnsafeMutableBufferPointer(rebasing: scratch[..<cells.count])
    try IntegerColumn.decode(&reader, into: indexes)
    var numbered = 0
    for index in indexes {
      guard index >= 0, index < Int64(count) else {
        throw reader.invalid("a text of a pattern that is not there")
      }
      if digits[Int(index)] > 0 { numbered += 1 }
    }
    let numbers = UnsafeMutableBufferPointer(
      rebasing: scratch[cells.count..<cells.count + numbered])
    try IntegerColumn.decode(&reader, into: numbers)
    for number in numbers where !(0..<bound).contains(number) {
      throw reader.invalid("a number of more than 18 digits")
    }
    guard
      Texts(parts: UnsafeBufferPointer(parts), digits: digits, bytes: texts).write(
        indexes, numbers, tag: tag, into: cells, arena: &arena, room: room - texts.count)
    else {
      throw .tooLarge(at: reader.offset, limit: UInt64(FormatLimits.maximumDecodedLength))
    }
  }

  /// Patterns that were read, and makes texts by them.
  private struct Texts {
    /// The prefixes, then the suffixes, in `bytes`.
    let parts: UnsafeBufferPointer<ValueCell>
    let digits: ContiguousArray<Int64>
    let bytes: ContiguousArray<UInt8>

    /// Appends the texts to the arena, unless they take more than `room`: then returns false.
    func write(
      _ indexes: UnsafeMutableBufferPointer<Int64>, _ numbers: UnsafeMutableBufferPointer<Int64>,
      tag: ValueTag, into cells: UnsafeMutableBufferPointer<ValueCell>,
      arena: inout ContiguousArray<UInt8>, room: Int
    ) -> Bool {
      let start = arena.count
      guard let total = measure(indexes, numbers, tag: tag, into: cells, from: start, room: room)
      else { return false }
      arena.append(contentsOf: repeatElement(0, count: total))
      arena.withUnsafeMutableBytes { arena in
        bytes.withUnsafeBytes { bytes in
          // A pattern of nothing at all has no bytes.
          guard let output = arena.baseAddress, total > 0 else { return }
          let source = bytes.baseAddress ?? UnsafeRawPointer(output)
          fill(output + start, cells, indexes, numbers, source)
        }
      }
      return true
    }

    /// Makes the cells of texts that begin at `start`; returns how many bytes these take, nil if
    /// that is more than `room`.
    private func measure(
      _ indexes: UnsafeMutableBufferPointer<Int64>, _ numbers: UnsafeMutableBufferPointer<Int64>,
      tag: ValueTag, into cells: UnsafeMutableBufferPointer<ValueCell>, from start: Int, room: Int
    ) -> Int? {
      digits.withUnsafeBufferPointer { digits in
        var total = 0
        var next = 0
        for place in cells.indices {
          let index = Int(truncatingIfNeeded: indexes[place])
          var length = Int(parts[index].length) &+ Int(parts[digits.count &+ index].length)
          if digits[index] > 0 {
            length &+= Texts.width(of: numbers[next], atLeast: digits[index])
            next &+= 1
          }
          cells[place] = ValueCell(
            tag: tag, bits: UInt64(truncatingIfNeeded: start &+ total),
            length: UInt32(truncatingIfNeeded: length))
          total &+= length
          if total > room { return nil }
        }
        return total
      }
    }

    /// Writes the texts, whose lengths the cells have.
    private func fill(
      _ output: UnsafeMutableRawPointer, _ cells: UnsafeMutableBufferPointer<ValueCell>,
      _ indexes: UnsafeMutableBufferPointer<Int64>, _ numbers: UnsafeMutableBufferPointer<Int64>,
      _ source: UnsafeRawPointer
    ) {
      digits.withUnsafeBufferPointer { digits in
        var output = output
        var next = 0
        for place in cells.indices {
          let index = Int(truncatingIfNeeded: indexes[place])
          let (prefix, suffix) = (parts[index], parts[digits.count &+ index])
          let end = output + Int(cells[place].length)
          output.copyMemory(
            from: source + Int(truncatingIfNeeded: prefix.bits), byteCount: Int(prefix.length))
          output += Int(prefix.length)
          let behind = end - Int(suffix.length)
          if digits[index] > 0 {
            Texts.write(UInt64(bitPattern: numbers[next]), from: output, to: behind)
            next &+= 1
          }
          behind.copyMemory(
            from: source + Int(truncatingIfNeeded: suffix.bits), byteCount: Int(suffix.length))
          output = end
        }
      }
    }

    /// Writes a number with as many digits as there is room for.
    @inline(__always)
    private static func write(
      _ number: UInt64, from start: UnsafeMutableRawPointer, to end: UnsafeMutableRawPointer
    ) {
      var rest = number
      var place = end
      while place > start {
        place -= 1
        let digit = UInt8(truncatingIfNeeded: rest % 10)
        place.storeBytes(of: UInt8(ascii: "0") &+ digit, as: UInt8.self)
        rest /= 10
      }
    }

    /// How many digits a number has, filled up with zeros.
    @inline(__always)
    private static func width(of number: Int64, atLeast least: Int64) -> Int {
      var digits: Int64 = 1
      var bound: Int64 = 10
      // A number has at most 18 digits.
      while number >= bound {
        digits &+= 1
        bound &*= 10
      }
      return Int(truncatingIfNeeded: max(digits, least))
    }
  }
}
