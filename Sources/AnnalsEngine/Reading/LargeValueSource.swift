import AnnalsModel

/// Where the bytes of values over 4 KiB are read.
package protocol LargeValueSource: Sendable {
  /// The bytes of the value, checked against its length and checksum.
  ///
  /// Throws `.damaged` with the offset if they fail the check, `.lost` if they were lost before the
  /// store was salvaged, `.io` if they cannot be read.
  func bytes(of value: LargeValue) throws(AnnalsError) -> ContiguousArray<UInt8>
}

extension LargeValueSource {
  /// The bytes of the value; nil if they were lost before the store was salvaged.
  package func bytesLeft(of value: LargeValue) throws(AnnalsError) -> ContiguousArray<UInt8>? {
    do throws(AnnalsError) {
      return try bytes(of: value)
    } catch {
      guard error.code == .lost else { throw error }
      return nil
    }
  }
}

/// Where the bytes of values over 4 KiB go before the record that mentions them.
package protocol LargeValueSink: LargeValueSource {
  /// Keeps the bytes of a new large value.
  func add(_ bytes: ContiguousArray<UInt8>, tag: ValueTag) throws(AnnalsError) -> LargeValue
}
