import AnnalsModel

/// Front coding: omits the bytes that a value shares with the one before it.
enum FrontCoding {
  /// The joined values; `shared` is checked against `lengths`, `rest` has the bytes left.
  static func join(
    _ rest: ContiguousArray<UInt8>, lengths: ContiguousArray<UInt64>,
    shared: ContiguousArray<UInt64>
  ) -> ContiguousArray<UInt8> {
    rest.withUnsafeBytes { rest in
      ContiguousArray(count: Int(lengths.reduce(0, +))) { buffer in
        guard let output = UnsafeMutableRawPointer(buffer.baseAddress) else { return 0 }
        var source = rest.baseAddress ?? UnsafeRawPointer(output)
        var filled = 0
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
        return filled
      }
    }
  }
}
