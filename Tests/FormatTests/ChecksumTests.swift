import AnnalsFormat
import AnnalsTestSupport
import Testing

/// The checksum of the format, however it is computed.
@Suite struct ChecksumTests {
  private static let text = Array("123456789".utf8)

  @Test func itIsTheOneOfTheStandards() {
    #expect(Self.text.withUnsafeBytes { Checksum.crc32($0) } == 0xCBF4_3926)
    #expect(Self.text.withUnsafeBytes { Checksum.portable($0) } == 0xCBF4_3926)
    let zeros = [UInt8](repeating: 0, count: 1_024)
    #expect(zeros.withUnsafeBytes { Checksum.crc32($0) } == 0xEFB5_AF2E)
  }

  /// Of every length to which some step is due, at every alignment, after any bytes before them.
  @Test func instructionsAndTablesAgree() {
    var random = SeededRandom(seed: 104)
    let bytes = (0..<70_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    bytes.withUnsafeBytes { bytes in
      let lengths = Array(0..<800) + [1_023, 1_024, 1_025, 4_095, 65_536, 69_900]
      for (index, length) in lengths.enumerated() {
        let piece = UnsafeRawBufferPointer(rebasing: bytes[index % 33..<index % 33 + length])
        for start in [0, ~0, UInt32(truncatingIfNeeded: random.next())] {
          let found = Checksum.crc32(piece, startingFrom: start)
          #expect(found == Checksum.portable(piece, startingFrom: start), "\(length), \(start)")
        }
      }
    }
  }

  /// Taken piece by piece it is that of the whole.
  @Test func piecesGoOn() {
    var random = SeededRandom(seed: 105)
    let bytes = (0..<3_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    bytes.withUnsafeBytes { bytes in
      let whole = Checksum.portable(bytes)
      for _ in 0..<200 {
        let place = random.below(bytes.count + 1)
        let first = Checksum.crc32(UnsafeRawBufferPointer(rebasing: bytes[..<place]))
        let rest = UnsafeRawBufferPointer(rebasing: bytes[place...])
        #expect(Checksum.crc32(rest, startingFrom: first) == whole, "\(place)")
      }
    }
  }
}
