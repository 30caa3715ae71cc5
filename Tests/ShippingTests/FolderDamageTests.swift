import Annals
import AnnalsFaults
import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsShipping

/// A file of a folder that is missing, changed, renamed or of another store is named, or harmless:
/// never is a wrong state restored.
@Suite(.deadline) struct FolderDamageTests {
  /// A folder with a base and three segments, and the states of its store.
  private struct Shipped {
    let lab = ShippingLab()
    var states: [String] = []
    var names: [String] = []
    /// The last transactions of the base and its segments.
    var heads: [Int64] = []

    init() throws {
      let store = try lab.store()
      let shipper = try lab.shipper()
      for id in 0..<4 {
        for part in 0...id { try store.note("\(id) \(part)", text: "text") }
        heads.append(try shipper.pass().head)
      }
      states = try (0...store.token.number).map { try canonical(store, at: $0) }
      names = lab.names
      shipper.close()
      // The store goes on without being shipped, or is gone.
      try store.close()
    }

    /// Restores the newest, and every moment. What is restored is right; returns the error of the
    /// newest, if it is refused.
    @discardableResult
    func check(_ what: @autoclosure () -> String, every: Bool = true) throws -> AnnalsError? {
      var refused: AnnalsError?
      do {
        let found = try lab.restoring { store, report in
          #expect(report.number == states.count - 1, "\(what())")
          return try canonical(store, at: report.number)
        }
        #expect(found == states.last, "\(what())")
      } catch let error as AnnalsError {
        refused = error
      }
      guard every else { return refused }
      for number in states.indices {
        do {
          let found = try lab.restoring(at: Int64(number)) { store, _ in
            try canonical(store, at: Int64(number))
          }
          #expect(found == states[number], "\(what()): as of \(number)")
        } catch let error as AnnalsError {
          #expect(refused != nil, "\(what()): as of \(number): \(error)")
        }
      }
      return refused
    }

    func file(_ index: Int) throws -> ContiguousArray<UInt8> {
      try lab.disk.contents(of: names[index])
    }

    func name(_ index: Int) -> String { String(names[index].dropFirst("/folder/".count)) }
  }

  @Test func theWholeFolder() throws {
    let shipped = try Shipped()
    #expect(shipped.names.count == 4)
    #expect(try shipped.check("whole") == nil)
  }

  @Test(arguments: 0..<4) func aMissingFile(index: Int) throws {
    let shipped = try Shipped()
    try shipped.lab.disk.remove(shipped.names[index])
    if index == 3 {
      // The last is as if it was never shipped.
      let found = try shipped.lab.restored()
      #expect(found == shipped.states[Int(shipped.heads[2])])
      return
    }
    let error = try #require(try shipped.check("missing"))
    #expect(error.code == .missingData, "\(error)")
    #expect(error.message.contains("\(shipped.name(index)) is missing"), "\(error)")
    guard index > 0 else { return }
    let last = shipped.heads[index - 1]
    #expect(error.message.contains("restored without it is \(last):"), "\(error)")
    #expect(try shipped.lab.restored(at: last) == shipped.states[Int(last)])
  }

  /// Without the end of history, a date is known only if something later is there, and nothing can
  /// be counted from the newest.
  @Test func datesWithoutTheEnd() throws {
    let shipped = try Shipped()
    let lab = shipped.lab
    let store = try lab.store()
    try lab.disk.remove(shipped.names[2])
    let last = shipped.heads[1]
    let dates = try [last - 1, last, last + 1].map { try store.transaction($0).timestamp }
    func restore(_ kind: RestoredPoint.Kind, _ place: HistoryPlace) throws -> Int64 {
      defer { try? lab.disk.remove("/restored.annals") }
      return try Store.restore(
        from: lab.folder, to: "/restored.annals", in: lab.disk,
        at: { RestoredPoint(try $0.number(at: place, in: $0.version), kind) }
      ).number
    }
    #expect(try restore(.date, dates[0].historyPlace) == last - 1)
    #expect(try restore(.exact, .number(last)) == last)
    for (kind, place) in [
      (.date, dates[1].historyPlace), (.date, dates[2].historyPlace),
      (.fromEnd, .number(last - 1)), (.exact, .number(last + 1)),
    ] as [(RestoredPoint.Kind, HistoryPlace)] {
      let error = #expect(throws: AnnalsError.self) { try restore(kind, place) }
      #expect(error?.code == .missingData, "\(error as Any)")
    }
  }

  @Test(arguments: 0..<4) func everyCut(index: Int) throws {
    let shipped = try Shipped()
    let bytes = try shipped.file(index)
    let lengths =
      index == 0 ? Array(stride(from: 0, to: bytes.count, by: 61)) : Array(bytes.indices)
    for length in lengths {
      try shipped.lab.disk.put(ContiguousArray(bytes.prefix(length)), at: shipped.names[index])
      let error = try shipped.check("\(length) bytes", every: length % 59 == 0)
      #expect(error?.code == .damaged, "\(length): \(error as Any)")
      #expect(error?.message.contains(shipped.name(index)) == true, "\(error as Any)")
    }
    try shipped.lab.disk.put(bytes + [0], at: shipped.names[index])
    #expect(try shipped.check("longer")?.code == .damaged)
  }

  @Test(arguments: 0..<4) func everyFlippedBit(index: Int) throws {
    let shipped = try Shipped()
    let bytes = try shipped.file(index)
    for place in bytes.indices {
      // Of the base only some of the zeros.
      if index == 0, bytes[place] == 0, place % 97 != 0 { continue }
      var changed = bytes
      changed[place] ^= 1 << UInt8(place % 8)
      try shipped.lab.disk.put(changed, at: shipped.names[index])
      let error = try shipped.check("bit of byte \(place)", every: place % 211 == 0)
      if let error {
        #expect(error.message.contains(shipped.name(index)), "\(place): \(error)")
        if index > 0, place >= SegmentHeader.length {
          #expect(error.message.contains("its checksum does not match"), "\(place): \(error)")
        }
      } else {
        // A copy of the header, or a root slot, that the other one replaces.
        #expect(index == 0, "byte \(place) of \(shipped.name(index)) may change")
      }
    }
  }

  @Test func renamedAndDoubled() throws {
    let shipped = try Shipped()
    let disk = shipped.lab.disk
    // Two segments change places.
    let (first, second) = (try shipped.file(1), try shipped.file(2))
    try disk.put(second, at: shipped.names[1])
    try disk.put(first, at: shipped.names[2])
    let swapped = try #require(try shipped.check("swapped"))
    #expect(
      swapped.message.contains("was renamed: its own name is \(shipped.name(2))"), "\(swapped)")
    try disk.put(first, at: shipped.names[1])
    try disk.put(second, at: shipped.names[2])
    // The last again, as the next.
    let last = try #require(ShippedName(shipped.name(3)))
    let doubled = "/folder/\(last.next.text)"
    try disk.put(try shipped.file(3), at: doubled)
    #expect(try shipped.check("doubled")?.message.contains("was renamed") == true)
    // With a name that fits, it does not continue the log.
    let header = try SegmentHeader(try shipped.file(3), of: last)
    var forged = header
    forged.name = last.next
    try disk.put(forged.encode() + (try shipped.file(3)).dropFirst(128), at: doubled)
    #expect(try shipped.check("forged")?.message.contains("does not continue") == true)
    try disk.remove(doubled)
    #expect(try shipped.check("whole again") == nil)
  }

  /// If the newest base is damaged, older moments come from the one before.
  @Test func aDamagedNewestBase() throws {
    let shipped = try Shipped()
    let lab = shipped.lab
    let store = try lab.store()
    try store.compact()
    try store.note("later")
    #expect(try lab.ship().newBase == .rewritten)
    let newest = try #require(lab.names.last)
    try lab.disk.flip(1, at: 12_400, of: newest)
    let error = #expect(throws: AnnalsError.self) { try lab.restored() }
    let last = try #require(shipped.heads.last)
    #expect(error?.code == .damaged, "\(error as Any)")
    #expect(error?.message.contains("restored without it is \(last):") == true)
    for number in shipped.states.indices {
      try lab.restoring(at: Int64(number)) { restored, report in
        #expect(report.base == 1 && report.problems.count == 1)
        let found = try canonical(restored, at: Int64(number))
        #expect(found == shipped.states[number])
      }
    }
    let beyond = #expect(throws: AnnalsError.self) { try lab.restored(at: last + 1) }
    #expect(beyond?.code == .damaged, "\(beyond as Any)")
  }

  /// Headers that somebody made up, with right checksums, cost nothing and mislead nobody.
  @Test func madeUpHeaders() throws {
    let shipped = try Shipped()
    let bytes = try shipped.file(2)
    let name = try #require(ShippedName(shipped.name(2)))
    let header = try SegmentHeader(bytes, of: name)
    let great = UInt64(1) << 61
    let changes: [(inout SegmentHeader) -> Void] = [
      { $0.end = great }, { $0.start = great },
      {
        $0.end = great; $0.start = great - 8
      },
      { $0.head = 1 << 61 }, { $0.head += 1 }, { $0.headBefore -= 1 }, { $0.lastFrame = great },
      { $0.lastFrame = $0.start }, { $0.previousChecksum ^= 1 }, { $0.lastChecksum ^= 1 },
      { $0.start = 0 }, { $0.end = $0.start }, { $0.end -= 8 }, { $0.start += 8 },
      { $0.name.base = 7 }, { $0.name.generation = 0 },
    ]
    for (index, change) in changes.enumerated() {
      var changed = header
      change(&changed)
      try shipped.lab.disk.put(changed.encode() + bytes.dropFirst(128), at: shipped.names[2])
      let error = try shipped.check("change \(index)", every: false)
      #expect(error != nil || changed.lastFrame == header.start, "change \(index)")
      // Nor does the next pass trust it, where it is the last.
      let store = try shipped.lab.store()
      try store.close()
      _ = try ShippedStore(in: shipped.lab.folder)
    }
  }

  /// A segment of a later version is named, nothing is shipped behind it, and moments before it are
  /// restored. With a checksum that is wrong it is a damaged one.
  @Test func aLaterVersion() throws {
    let shipped = try Shipped()
    let (lab, name) = (shipped.lab, shipped.names[3])
    let bytes = try shipped.file(3)
    var later = ContiguousArray(bytes.prefix(124))
    later[8] = 2
    try lab.disk.put(later + bytes.dropFirst(124), at: name)
    #expect(try shipped.check("version 2, damaged", every: false)?.code == .damaged)
    later.append(fixed: later.withUnsafeBytes { Checksum.crc32($0) })
    try lab.disk.put(later + bytes.dropFirst(128), at: name)
    let error = try shipped.check("version 2")
    #expect(error?.code == .newerVersion && error?.message.contains("version 2") == true)
    let store = try lab.store()
    try store.note("later")
    let refused = #expect(throws: AnnalsError.self) { try lab.ship() }
    #expect(refused?.code == .newerVersion, "\(refused as Any)")
    try store.close()
  }

  @Test func filesOfOthers() throws {
    let shipped = try Shipped()
    let disk = shipped.lab.disk
    try disk.put([1, 2, 3], at: "/folder/notes.txt")
    try disk.put([1, 2, 3], at: shipped.names[3] + ".new")
    #expect(try shipped.check("other files") == nil)
    #expect(try ShippedStore(in: shipped.lab.folder).otherFiles == 1)
    // Another store is not shipped there, and nothing is written.
    let before = try (0..<4).map(shipped.file)
    let paths = disk.paths
    let other = try Store(
      StoreLocation(fileSystem: disk, path: "/b.annals"), creates: true,
      environment: .fixed(seed: 77))
    try other.close()
    try? disk.remove("/b.annals.new")
    let shipper = try Shipper("/b.annals", in: disk, to: shipped.lab.folder)
    let error = #expect(throws: AnnalsError.self) { try shipper.pass() }
    #expect(error?.code == .otherStore, "\(error as Any)")
    shipper.close()
    try disk.remove("/b.annals")
    #expect(disk.paths == paths)
    #expect(try (0..<4).map(shipped.file) == before)
    #expect(try shipped.check("not shipped") == nil)
    // Its files were put there by hand.
    var foreign = try #require(ShippedName(shipped.name(1)))
    foreign.store = RawUUID(high: 1, low: 2)
    try disk.put(try shipped.file(1), at: "/folder/\(foreign.text)")
    #expect(try shipped.check("foreign")?.code == .otherStore)
  }

  /// What is missing or damaged at the end is replaced by a new base when the store is shipped on.
  @Test(arguments: 0..<4) func shippedOn(index: Int) throws {
    let shipped = try Shipped()
    let disk = shipped.lab.disk
    if index == 0 {
      try disk.put(ContiguousArray(try shipped.file(0).dropLast(8)), at: shipped.names[0])
    } else {
      try disk.remove(shipped.names[index])
    }
    let store = try shipped.lab.store()
    try store.note("later")
    let report = try shipped.lab.ship()
    if index == 3 {
      #expect(report.newBase == nil && report.segments == 1)
    } else if case .incomplete(let what) = report.newBase {
      #expect(what.contains(shipped.name(index)))
    } else {
      Issue.record("\(report)")
    }
    for number in 0...store.token.number {
      #expect(try shipped.lab.restored(at: number) == canonical(store, at: number))
    }
    #expect(try shipped.lab.restored() == canonical(store, at: store.token.number))
  }
}
