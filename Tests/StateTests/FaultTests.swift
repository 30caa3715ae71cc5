import AnnalsFormat
import AnnalsModel
import AnnalsState
import Testing

/// The errors that loops over rows and bytes throw.
struct FaultTests {
  /// A larger error makes every call that may throw it slower: it is returned through memory that
  /// each caller reserves.
  @Test func `errors of hot loops stay small`() {
    #expect(MemoryLayout<DecodeFault>.size <= 32)
    #expect(MemoryLayout<StateFault>.size <= 48)
  }

  @Test func `a fault says what is wrong and where`() {
    let faults: [(StateFault, String)] = [
      (.chunk(.checksum, at: 64), "the chunk at 64 is not what was written"),
      (.chunk(.mismatch, at: 64), "the chunk at 64 is another one"),
      (
        .chunk(.decode(.checksum(at: 3)), at: 64),
        "the chunk at 64 cannot be decoded: checksum mismatch at byte 3"
      ),
      (.invalid(entity: 2, row: 0, reason: "no"), "entity 2: no"),
      (.invalid(entity: 2, row: 7, reason: "no"), "entity 2, row 7: no"),
      (.query(.noSuchIndex, "no index serves"), "no index serves"),
      (.interrupted(DecodeFault.checksum(at: 1)), "checksum mismatch at byte 1"),
    ]
    for (fault, text) in faults { #expect("\(fault)" == text) }
  }
}
