import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsShipping

/// When a new base is made, and which old ones go.
@Suite(.deadline) struct KeepingTests {
  @Test func manySegments() throws {
    let lab = ShippingLab()
    let store = try lab.store()
    var options = ShippingOptions()
    options.segmentsPerBase = 3
    for id in 1...9 {
      try store.note("\(id)")
      let report = try lab.ship(options)
      #expect(report.newBase == [1: .first, 5: .manySegments, 9: .manySegments][id])
    }
    var small = ShippingOptions()
    small.leastBytesPerBase = 100
    small.bytesPerBase = 0.01
    try store.note("large", text: String(repeating: "long", count: 999))
    #expect(try lab.ship(small).newBase == .manySegments)
    // Nothing new, no new base.
    #expect(try !lab.ship(small).isChanged)
    for number in 1...store.token.number {
      #expect(try lab.restored(at: number) == canonical(store, at: number))
    }
  }

  @Test func keptBases() throws {
    let lab = ShippingLab()
    let store = try lab.store()
    for id in 1...4 {
      try store.note("\(id)")
      try store.compact()
      try lab.ship()
    }
    var options = ShippingOptions()
    options.keptBases = 2
    #expect(try lab.ship(options).removed == [1, 2])
    #expect(try ShippedStore(in: lab.folder).bases.map(\.number) == [3, 4])
    for number in 0...store.token.number {
      #expect(try lab.restored(at: number) == canonical(store, at: number))
    }
    options.keptBases = 1
    #expect(try lab.ship(options).removed == [3])
    #expect(try lab.ship(options).removed == [])
    // A number is not given again.
    try store.note("5")
    try store.compact()
    #expect(try lab.ship(options).base == 5)
  }

  /// The clock of stores goes on by a second with each transaction, that of the shipper is later.
  @Test func keptFor() throws {
    let lab = ShippingLab()
    let store = try lab.store()
    for id in 1...4 {
      try store.note("\(id)")
      try store.compact()
      try lab.ship()
    }
    let dates = try (2...5).map { try store.transaction(Int64($0)).timestamp }
    /// What is removed if every moment from `date` on is kept.
    func removed(from date: Date, at now: Date) throws -> [UInt64] {
      let length = (now.timeIntervalSince(date) * 1e6).rounded()
      return try removed(keptFor: .microseconds(Int64(length)), at: now)
    }
    func removed(keptFor length: Duration, at now: Date) throws -> [UInt64] {
      var options = ShippingOptions()
      options.keptFor = length
      let shipper = try Shipper(
        ShippingLab.storePath, in: lab.disk, to: lab.folder, options: options,
        environment: .fixed(start: now, step: 0))
      defer { shipper.close() }
      return try shipper.pass().removed
    }
    let now = dates[3].addingTimeInterval(100)
    // What no date has room for is for ever.
    for length in [Duration.seconds(Int64.max), .seconds(9_300_000_000_000)] {
      #expect(try removed(keptFor: length, at: now) == [])
    }
    #expect(try removed(from: dates[0], at: now) == [])
    // The second base has all since its own last transaction, so the first may go.
    #expect(try removed(from: dates[1], at: now) == [1])
    // Parts of a second count.
    let soon = dates[3].addingTimeInterval(0.5)
    #expect(try removed(keptFor: .milliseconds(501), at: soon) == [2])
    #expect(try removed(keptFor: .milliseconds(499), at: soon) == [3])
    for number in 0...store.token.number {
      #expect(try lab.restored(at: number) == canonical(store, at: number))
    }
  }

  @Test func whatABranchHasIsKept() throws {
    let lab = ShippingLab()
    let store = try lab.store()
    let copy = try lab.disk.contents(of: ShippingLab.storePath)
    for id in 1...3 { try store.note("\(id)") }
    try lab.ship()
    try store.close()
    try lab.disk.put(copy, at: ShippingLab.storePath)
    let older = try lab.store(seed: 2)
    try older.note("another")
    var options = ShippingOptions()
    options.keptBases = 1
    let report = try lab.ship(options)
    #expect(report.newBase == .branched && report.removed == [] && report.headBefore == 4)
    #expect(try lab.restoring(at: 4) { store, _ in store.token.number } == 4)
    #expect(try lab.restored() == canonical(older, at: 2))
  }

  /// What was erased is told, and removed on request, whatever else is kept.
  @Test func erasedValues() throws {
    let lab = ShippingLab()
    let store = try lab.store()
    try store.note("secret", text: "to be erased")
    try lab.ship()
    try store.note("1")
    try lab.ship()
    let secret = try #require(
      try store.snapshot().object(of: "Note", where: "id", is: .string("secret")))
    try store.erase(secret.objectID, reason: "asked for")
    // The erasure was shipped before it was carried out, in a base of its own.
    #expect(try lab.ship().holdErased == [1])
    func isHeld() throws -> Bool {
      try lab.names.contains {
        try lab.disk.contents(of: $0).firstRange(of: Array("to be erased".utf8)) != nil
      }
    }
    #expect(try isHeld())
    // A compaction has nothing to do with it.
    try store.note("2")
    try store.compact()
    #expect(try lab.ship().holdErased == [1])
    var options = ShippingOptions()
    options.forgetsErased = true
    options.keptBases = 9
    let report = try lab.ship(options)
    #expect(report.removed == [1] && report.holdErased == [])
    #expect(try !isHeld())
    #expect(try lab.ship(options).removed == [])
    #expect(try lab.restored() == canonical(store, at: store.token.number))
  }

  @Test func oneAtATime() throws {
    let lab = ShippingLab()
    let store = try lab.store()
    let first = try lab.shipper()
    let error = #expect(throws: AnnalsError.self) { try lab.shipper() }
    #expect(error?.code == .busy && error?.message.contains("/folder") == true)
    first.close()
    try lab.ship()
    try store.close()
  }

  @Test func names() throws {
    let store = try #require(RawUUID("6f9619ff-8b86-d011-b42d-00c04fc964ff"))
    let name = ShippedName(store: store, base: 12, generation: 3, order: 7)
    #expect(name.text == "\(store)-000012-g3-00000007.segment")
    #expect(ShippedName(name.text) == name)
    for wrong in [
      "", "x", name.text + ".new", "\(store)-12-g3-00000007.segment",
      "\(store)-000012-g3-00000007.annals", "\(store)-000000-g3-00000007.segment",
      "\(store)-000012-g03-00000007.segment", "x\(name.text)",
    ] {
      #expect(ShippedName(wrong) == nil, "\(wrong)")
    }
  }
}
