import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import Testing

/// What a verification says of root slots, and of a header that they do not fit with.
@Suite struct SlotTests {
  /// A crash within a clean close may leave the slot before with the length that the file had. What
  /// counts is the length in the newer one; that the older one is not of the close is told.
  @Test func theNewerSlotSaysHowLongTheFileWas() throws {
    var file = SampleStore.small(2)
    file.allocated = 4096
    file.writeSlot(head: 2)
    file.allocated = 0
    file.writeSlot(head: 2)
    for _ in 0..<2 {
      let found = try findings(in: file.bytes)
      #expect(found.map(\.severity) == [.warning] && found[0].what.contains("older"), "\(found)")
      #expect(found[0].offset == FormatLimits.slotOffsets[file.slots[0].index])
      let report = try report(on: file.bytes)
      #expect(report.end.tail == .clean)
      // Either of them may stand in either place.
      for index in file.slots.indices { file.slots[index].sequence += 1 }
    }
    file.writeSlot(head: 2)
    #expect(try findings(in: file.bytes) == [])
  }

  /// One slot is whole whatever happened: both gone is damage, and what of the log was synced is
  /// not known any more.
  @Test func zerosAndOtherDamageInSlots() throws {
    var file = SampleStore.small(2)
    file.close(head: 2)
    let zeros = ContiguousArray<UInt8>(repeating: 0, count: FormatLimits.blockLength)
    func damaging(_ slots: [Int], byZeros: Bool) -> ContiguousArray<UInt8> {
      var bytes = file.bytes
      for index in slots {
        let start = Int(FormatLimits.slotOffsets[index])
        if byZeros {
          bytes.replaceSubrange(start..<start + zeros.count, with: zeros)
        } else {
          bytes[start + 99] ^= 1
        }
      }
      return bytes
    }
    for byZeros in [true, false] {
      for index in 0...1 {
        let found = try findings(in: damaging([index], byZeros: byZeros))
        #expect(found.map(\.severity) == [.warning], "\(found)")
        #expect(found.first?.offset == FormatLimits.slotOffsets[index])
        #expect(found.first?.remedy.contains("Nothing need be done") == true)
      }
      var bytes = damaging([0, 1], byZeros: byZeros)
      let both = try findings(in: bytes)
      #expect(both.count == 3, "\(both)")
      #expect(both.contains { $0.what.contains("no root slot can be read") })
      // A file that no writer opens is not mended by the next one.
      #expect(!both.contains { $0.remedy.contains("Nothing need be done") }, "\(both)")
      #expect(try report(on: bytes).end.tail == .clean)
      // The whole log might be taken for a torn tail.
      bytes[Int(FormatLimits.logStart)] ^= 1
      #expect(try !report(on: bytes).end.tail.isOrderly)
    }
  }

  /// A header, or a slot, of another generation or of another store: as whole as a header can be.
  @Test func aHeaderThatDoesNotBelongToTheLog() throws {
    var file = SampleStore.small(2)
    file.close(head: 2)
    for index in file.slots.indices { file.slots[index].header = file.header }
    var other = HandMadeFile { $0.generation += 1 }
    other.close(head: 0)
    for index in other.slots.indices { other.slots[index].header = other.header }
    func putting(_ blocks: [Int]) -> ContiguousArray<UInt8> {
      var bytes = file.bytes
      for block in blocks {
        let range = block * FormatLimits.blockLength..<(block + 1) * FormatLimits.blockLength
        bytes.replaceSubrange(range, with: other.bytes[range])
      }
      return bytes
    }
    #expect(try findings(in: file.bytes) == [])
    // Also of a log without a frame that could tell.
    for bytes in [
      putting([0]), putting([0, 1]), putting([0, 2]), ContiguousArray(putting([0])[..<12_288]),
    ] {
      let errors = try findings(in: bytes).filter { $0.severity == .error }
      #expect(errors.contains { $0.subject == .header && $0.offset == 0 }, "\(errors)")
      let walk = try FileWalk(bytes.opened())
      #expect(walk.restoredHeader == file.header)
    }
    for block in 1...2 {
      let errors = try findings(in: putting([block])).filter { $0.severity == .error }
      #expect(errors.map(\.offset) == [UInt64(block * FormatLimits.blockLength)], "\(errors)")
      #expect(try FileWalk(putting([block]).opened()).restoredHeader == file.header)
    }
  }
}
