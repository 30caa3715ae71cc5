import AnnalsDescription
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import Testing

/// What is said of features that are announced in a file.
@Suite struct AnnouncementTests {
  private static let low = Features(optional: 0x20)
  private static let writers = Features(optional: 1 << 60)
  private static let required = Features(required: 1 << 8)

  /// A file of three transactions with features announced behind the second, and a slot behind all.
  private static func file(_ features: Features) -> (file: HandMadeFile, offset: UInt64) {
    var file = SampleStore.small(2)
    file.allocated = 64
    let offset = file.announce(features)
    file.append(SampleStore.record(3))
    file.writeSlot(head: 3)
    return (file, offset)
  }

  @Test(arguments: [AnnouncementTests.low, AnnouncementTests.writers])
  func whatMayBeReadIsNoted(features: Features) throws {
    let (file, offset) = AnnouncementTests.file(features)
    let found = try findings(in: file.bytes)
    #expect(found.map(\.severity) == [.note] && found.map(\.offset) == [offset], "\(found)")
    #expect(found.first?.what.contains("\(features)") == true)
    let isForbidden = found.first?.what.contains("a writer must know") == true
    #expect(isForbidden == (features == AnnouncementTests.writers))
    let statistics = try statistics(of: file.bytes)
    #expect(statistics.features.map(\.place) == ["announced"])
    #expect(statistics.bytesByUse.values.reduce(0, +) == UInt64(file.bytes.count))
    #expect(statistics.transactions == 3)
  }

  /// The remedy is a newer version, and nothing is called damaged.
  @Test(arguments: [true, false]) func whatAReaderMustKnowIsAnError(isInSlot: Bool) throws {
    var (file, offset) = AnnouncementTests.file(AnnouncementTests.required)
    if !isInSlot {
      file = SampleStore.small(2)
      file.writeSlot(head: 2)
      offset = file.announce(AnnouncementTests.required)
    }
    let found = try findings(in: file.bytes)
    let places = isInSlot ? [FormatLimits.slotOffsets[file.slots[0].index], offset] : [offset]
    #expect(found.filter { $0.severity == .error }.map(\.offset) == places, "\(found)")
    for finding in found where finding.severity == .error {
      #expect(finding.remedy.contains("newer version") && finding.what.contains("0x100"))
      #expect(!finding.description.contains("damage"))
    }
  }

  /// Every slot says what was announced before its mark, and no more.
  @Test(arguments: [Features.none, Features(optional: 0x21), AnnouncementTests.writers])
  func slotsThatSayOtherwise(features: Features) throws {
    var (file, _) = AnnouncementTests.file(AnnouncementTests.low)
    file.slots[0].announced = features
    let errors = try findings(in: file.bytes).filter { $0.severity == .error }
    #expect(errors.map(\.subject) == [.slot], "\(errors)")
    #expect(errors.first?.what.contains("announces other features") == true)
    // Of one whose mark lies before the announcement the rule is the same.
    var early = SampleStore.small(2)
    early.writeSlot(head: 2)
    early.announce(AnnouncementTests.low)
    #expect(try findings(in: early.bytes).allSatisfy { $0.severity == .note })
    early.slots[0].announced = AnnouncementTests.low
    #expect(try findings(in: early.bytes).map(\.subject).contains(.slot))
  }

  /// Every bit of it is read, and what breaks a rule is an error of its own.
  @Test func damagedAnnouncements() throws {
    let (file, offset) = AnnouncementTests.file(AnnouncementTests.low)
    let bytes = file.bytes
    for index in Int(offset)..<Int(offset) + 40 {
      for bit in 0..<8 {
        let found = try findings(in: bytes.flipping(bit: bit, ofByte: index))
        #expect(found.contains { $0.severity == .error }, "bit \(bit) of byte \(index)")
      }
    }
    let payloads: [[UInt8]] = [[], [1], Array(repeating: 0, count: 16)]
    for payload in payloads {
      var crafted = SampleStore.small(2)
      let place = crafted.append(
        .featureAnnouncement, flags: .skippable, ContiguousArray<UInt8>(payload))
      crafted.writeSlot(head: 2)
      let errors = try findings(in: crafted.bytes).filter { $0.severity == .error }
      #expect(errors.map(\.offset) == [place], "\(payload): \(errors)")
    }
  }

  @Test(arguments: DumpStyle.allCases, [true, false])
  func dumpsShowThem(style: DumpStyle, showsBytes: Bool) throws {
    for features in [AnnouncementTests.writers, AnnouncementTests.required] {
      var options = DumpOptions()
      options.style = style
      options.bytes = showsBytes
      var text = ""
      var dump = try FileDump(
        AnnouncementTests.file(features).file.bytes.opened(), options: options)
      let summary = try dump.run {
        text += $0
        return true
      }
      let isRequired = features == AnnouncementTests.required
      let name = "\(isRequired ? "required" : "optional")\(showsBytes ? " features" : "") announced"
      let bits = isRequired ? "bits 0x100" : "bits 0x1000000000000000"
      let lines = text.split(separator: "\n").filter { $0.contains(name) && $0.contains(bits) }
      // In the frame and in the slot; of a slot that needs what is unknown only the bytes are told.
      #expect(lines.count == (isRequired && !showsBytes ? 1 : 2), "\(text)")
      #expect(text.contains("does not know") == (isRequired && (!showsBytes || style == .text)))
      #expect(summary.problems == (isRequired ? 2 : 0))
    }
  }
}
