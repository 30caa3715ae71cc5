import AnnalsModel
import Testing

@testable import AnnalsFormat

/// Each way a header can be wrong has its own answer, in the order that FORMAT.md states.
struct HeaderTests {
  /// A header with bytes changed, and its checksum made right again if asked for.
  private func fault(sealed: Bool = true, _ change: (inout ContiguousArray<UInt8>) -> Void)
    -> HeaderFault?
  {
    var header = FileHeader(
      store: WorkedExample.store, generation: 1, base: 0, created: WorkedExample.created)
    var bytes = header.encode()
    change(&bytes)
    if sealed, bytes.count == 4096 {
      bytes.removeLast(4)
      bytes.append(fixed: bytes.withUnsafeBytes { Checksum.crc32($0) })
    }
    return bytes.withUnsafeBytes { bytes in
      do throws(HeaderFault) {
        _ = try FileHeader.decode(bytes)
        return nil
      } catch {
        return error
      }
    }
  }

  @Test
  func faults() {
    #expect(fault { _ in } == nil)
    #expect(fault { $0.removeAll() } == .tooShort(0))
    #expect(fault { $0.removeSubrange(7...) } == .tooShort(7))
    #expect(fault { $0.removeSubrange(8...) } == .cut(8))
    #expect(fault { $0.removeSubrange(4095...) } == .cut(4095))
    #expect(fault { $0 = ContiguousArray("{\"n\":1,\"changes\":[]}".utf8) } == .notAnnals)
    // A newer version may have moved everything else, so it is told before a checksum.
    #expect(fault(sealed: false) { $0[8] = 9 } == .newerVersion(version: 9, draft: 0))
    #expect(fault(sealed: false) { $0[12] = 9 } == .newerVersion(version: 1, draft: 9))
    for draft: UInt8 in 1...3 {
      #expect(fault(sealed: false) { ($0[8], $0[12]) = (0, draft) } == .olderDraft(UInt32(draft)))
    }
    // There was no such draft: a flipped bit of the version.
    for draft: UInt8 in [0, 4] {
      #expect(fault(sealed: false) { ($0[8], $0[12]) = (0, draft) } == .checksum)
      let fault = fault { ($0[8], $0[12]) = (0, draft) }
      guard case .invalid = fault else {
        Issue.record("\(fault as Any)")
        continue
      }
    }
    #expect(fault(sealed: false) { $0[300] = 1 } == .checksum)
    #expect(fault { $0[16] = 9 } == .unknownFeatures(9))
    #expect(fault { $0[24] = 5 } == nil)
    // Bits that a writer must know are none of the reader's business.
    #expect(fault { $0[28] = 5 } == nil)
    // A state at the base that is not empty, whatever the base.
    #expect(fault { $0[81] = 0x30 } == nil)
  }

  /// What was imported may be of any time, and so may the base that a prune makes of it.
  @Test(arguments: [Int64.min, -1, 0, 1, .max])
  func aBaseOfAnyTime(microseconds: Int64) throws {
    var header = FileHeader(
      store: WorkedExample.store, generation: 1, base: 1, created: WorkedExample.created)
    header.baseTimestamp = Timestamp(microseconds: microseconds)
    let decoded = try header.encode().withUnsafeBytes { try FileHeader.decode($0) }
    #expect(decoded.greatestTimestamp.microseconds == microseconds)
  }

  @Test(
    arguments: [
      (48, 0), (63, 0x80), (72, 1), (79, 0x80), (80, 8), (81, 0x10), (98, 1), (99, 1), (100, 1),
      (103, 1), (97, 65),
      (97, 3),
      (96, 2), (88, 1), (104, 65),
      (168, 1), (256, 1), (511, 1), (512, 1), (4091, 1),
    ] as [(Int, UInt8)])
  func refusedFields(offset: Int, byte: UInt8) {
    let found = fault { $0[offset] = byte }
    let isRefused = if case .invalid = found { true } else { false }
    #expect(isRefused, "byte \(offset): \(String(describing: found))")
  }
}
