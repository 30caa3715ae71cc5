import AnnalsModel

/// Where the bytes of values over 4 KiB are read.
package protocol LargeValueSource: Sendable {
  /// The bytes of the value, checked against its length and checksum.
  ///
  /// Throws `.damaged` with the offset if they fail the check, `.io` if they cannot be read.
  func bytes(of value: LargeValue) throws(AnnalsError) -> ContiguousArray<UInt8>
}
