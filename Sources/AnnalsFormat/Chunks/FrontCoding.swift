/// Front coding: omits the bytes that a value shares with the one before it.
enum FrontCoding {
  /// For each value how many bytes at its beginning are those of the value before.
  static func sharedLengths(_ values: ColumnValues) -> ContiguousArray<UInt64> {
    values.bytes.withUnsafeBytes { bytes in
      var result: ContiguousArray<UInt64> = []
      result.reserveCapacity(values.lengths.count)
      var start = 0
      var previous = 0..<0
      for length in values.lengths {
        let span = start..<start + Int(length)
        let limit = min(span.count, previous.count)
        var shared = 0
        while shared < limit,
          bytes[span.lowerBound + shared] == bytes[previous.lowerBound + shared]
        {
          shared += 1
        }
        result.append(UInt64(shared))
        start = span.upperBound
        previous = span
      }
      return result
    }
  }

  static func removeShared(
    _ shared: ContiguousArray<UInt64>, from values: ColumnValues
  ) -> ContiguousArray<UInt8> {
    var rest: ContiguousArray<UInt8> = []
    rest.reserveCapacity(values.bytes.count)
    var start = 0
    for (length, shared) in zip(values.lengths, shared) {
      rest.append(contentsOf: values.bytes[start + Int(shared)..<start + Int(length)])
      start += Int(length)
    }
    return rest
  }

  /// The joined values; `shared` is checked against `lengths`, `rest` has the bytes left.
  static func join(
    _ rest: ContiguousArray<UInt8>, lengths: ContiguousArray<UInt64>,
    shared: ContiguousArray<UInt64>
  ) -> ContiguousArray<UInt8> {
    let total = Int(lengths.reduce(0, +))
    // With no capacity it would write its length into the empty array that all threads share.
    if total == 0 { return [] }
    return rest.withUnsafeBytes { rest in
      ContiguousArray<UInt8>(unsafeUninitializedCapacity: total) { buffer, filled in
        guard let output = UnsafeMutableRawPointer(buffer.baseAddress) else { return }
        var source = rest.baseAddress ?? UnsafeRawPointer(output)
        var previous = 0
        for (length, shared) in zip(lengths, shared) {
          let fresh = Int(length - shared)
          let target = output + filled
          if shared > 0 { target.copyMemory(from: output + previous, byteCount: Int(shared)) }
          if fresh > 0 { (target + Int(shared)).copyMemory(from: source, byteCount: fresh) }
          previous = filled
          filled += Int(length)
          source += fresh
        }
      }
    }
  }
}
