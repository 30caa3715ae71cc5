import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// Salvage where neither the announcements nor the root slots tell what the file uses: the new file
/// announces it all the same.
@Suite struct LostAnnouncementTests {
  private static let used = Features.decimalsAndDays.union(.derivations).union(.migrations)
    .union(.references)

  private static let before = Schema {
    Entity("Line") { Attribute("name", .string) }
    Entity("Event") {
      Attribute("amount", .any)
      Relationship("line", to: "Line", onDelete: .keep)
    }
  }

  private static let after = Schema {
    Entity("Line") {
      Attribute("name", .string)
      Attribute("events", .int64, derived: .count("events2"))
    }
    Entity("Event") {
      Attribute("amount", .any)
      Relationship("line", to: "Line", onDelete: .nullify, inverse: "events2")
    }
  }

  /// The bytes of a store that uses what its frames announce.
  private func bytes(isPruned: Bool) throws -> ContiguousArray<UInt8> {
    let location = try sampleFile()
    let first = try Store(
      location, schema: LostAnnouncementTests.before, environment: .fixed(seed: 1))
    try first.write { tx in
      let line = try tx.insert("Line", ["name": "a"])
      try tx.insert("Event", ["amount": 1, "line": .object(ObjectReference(line))])
    }
    try first.close()
    let store = try Store(
      location, schema: LostAnnouncementTests.after, migrations: [Migration("count") { _ in }],
      environment: .fixed(seed: 2))
    try store.write { tx in
      guard let event = try tx.objects(of: "Event").first else { return }
      try tx.update(event.id, ["amount": .decimal(RawDecimal("12.5") ?? .zero)])
    }
    try store.write { try $0.insert("Line", ["name": "b"]) }
    if isPruned { try store.prune(store.prunePlan(before: store.token.number)) }
    try store.close()
    return try location.contents()
  }

  /// Makes the slots unreadable, and the announcements; with `ofHeader` the header's, too.
  private func silenced(
    _ bytes: ContiguousArray<UInt8>, ofHeader: Bool
  ) throws -> ContiguousArray<UInt8> {
    var damaged = bytes
    let slots = Int(FormatLimits.slotOffsets[0])..<Int(FormatLimits.logStart)
    damaged.replaceSubrange(slots, with: repeatElement(0xFF, count: slots.count))
    for frame in try frameList(bytes) where frame.kind == .featureAnnouncement {
      damaged[Int(frame.offset) + 30] ^= 4
    }
    if ofHeader { damaged.replaceSubrange(0..<256, with: repeatElement(0, count: 256)) }
    return damaged
  }

  @Test(arguments: [false, true], [false, true])
  func theNewFileAnnouncesWhatItUses(isPruned: Bool, ofHeader: Bool) throws {
    let bytes = try silenced(bytes(isPruned: isPruned), ofHeader: ofHeader)
    let saved: Store
    do {
      saved = try SalvageLab.salvage(bytes).1
    } catch  where ofHeader {
      // Without a header the beginning of the checksums may be unknown.
      return
    }
    let features = saved.version.view.features
    #expect(features.contains(LostAnnouncementTests.used), "\(features)")
    #expect(try saved.verify().allSatisfy { $0.severity == .note })
    #expect(try saved.snapshot().objects(of: "Line").map { $0["events"] } == [1, 0])
    #expect(saved.migrations.map(\.name) == ["count"])
  }

  @Test func andOnlyThat() throws {
    let location = try sampleFile()
    let store = try Store(
      location, schema: LostAnnouncementTests.before, environment: .fixed(seed: 1))
    try store.write { try $0.insert("Line", ["name": "a"]) }
    try store.close()
    let bytes = try silenced(location.contents(), ofHeader: false)
    #expect(try SalvageLab.salvage(bytes).1.version.view.features == .none)
  }
}
