import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import SystemPackage
import Testing

@testable import AnnalsShipping

/// A power cut at any step of a pass, a full disk, and disks that fail.
@Suite(.deadline) struct CrashTests {
  /// What a pass does that a power cut may interrupt.
  enum Pass: CaseIterable { case first, segment, rewritten, removal }

  /// A store and a folder just before a pass, and the states that it has.
  private func prepared(
    _ pass: Pass
  ) throws -> (lab: ShippingLab, options: ShippingOptions, states: [String], before: Int64) {
    let lab = ShippingLab()
    let store = try lab.store()
    try store.note("1", text: "text")
    var options = ShippingOptions()
    if pass != .first { try lab.ship() }
    let before = store.token.number
    try store.note("2", text: "text")
    switch pass {
    case .first, .segment: break
    case .rewritten: try store.compact()
    case .removal:
      options.keptBases = 1
      try store.compact()
    }
    let states = try (0...store.token.number).map { try canonical(store, at: $0) }
    try store.close()
    return (lab, options, states, pass == .first ? -1 : before)
  }

  @Test(arguments: Pass.allCases) func atEachStep(pass: Pass) throws {
    let (lab, options, _, _) = try prepared(pass)
    let start = lab.disk.pointCount
    try lab.ship(options)
    let count = lab.disk.pointCount - start
    #expect(count >= 5)
    var survivors = 0
    for point in 0..<count {
      let (crashing, options, states, before) = try prepared(pass)
      crashing.disk.crash(at: start + point)
      _ = try? crashing.ship(options)
      #expect(crashing.disk.hasCrashed, "point \(point)")
      survivors += try crashing.disk.forEachSurvivor(limit: 12) { survivor in
        let after = ShippingLab(survivor.files)
        // Whole, as before or as after.
        do {
          let number = try after.restoring { store, report in
            let found = try canonical(store, at: report.number)
            #expect(found == states[Int(report.number)], "\(survivor.description)")
            return report.number
          }
          #expect(number >= before, "\(survivor.description)")
        } catch let error as AnnalsError {
          #expect(before < 0 && error.code == .notFound, "\(survivor.description): \(error)")
        }
        // And it is shipped on.
        let report = try after.ship(options)
        #expect(Int(report.head) == states.count - 1, "\(survivor.description)")
        for number in states.indices {
          let found = try after.restored(at: Int64(number))
          #expect(found == states[number], "\(survivor.description)")
        }
      }
    }
    #expect(survivors > count)
  }

  /// A transaction that the disk does not have is not shipped.
  @Test(arguments: [FaultInjection.Effect.none, .cacheLies])
  func whatIsNotSynced(effect: FaultInjection.Effect) throws {
    let lab = ShippingLab()
    let store = try lab.store(durability: .deferred)
    try store.note("1")
    try store.sync()
    try lab.ship()
    try store.note("2")
    // The sync of the shipper's own fails; or an earlier one did, and the cache hides it.
    if effect == .cacheLies {
      lab.disk.inject(FaultInjection(.sync, .ioError, effect: effect))
      let file = try lab.disk.open(ShippingLab.storePath, for: .reading)
      #expect(throws: StorageError.self) { try file.sync() }
      lab.disk.removeInjections()
    } else {
      lab.disk.inject(FaultInjection(.sync, .ioError, pathSuffix: ShippingLab.storePath))
    }
    let report = try lab.ship()
    #expect(report.hasUnsynced && report.head == 2 && report.segments == 0, "\(report)")
    #expect(try lab.restoring { store, _ in store.token.number } == 2)
    lab.disk.removeInjections()
    guard effect == .none else { return }
    #expect(try lab.ship().head == 3)
  }

  /// What nobody has synced yet is synced by the pass, and then shipped.
  @Test func deferredTransactions() throws {
    let lab = ShippingLab()
    let store = try lab.store(durability: .deferred)
    try lab.ship()
    for id in 1...5 { try store.note("\(id)") }
    #expect(try lab.ship().head == 6)
    // So a power cut does not take it from the file.
    try lab.disk.forEachSurvivor { survivor in
      let after = try Store(
        StoreLocation(fileSystem: survivor.files, path: ShippingLab.storePath), creates: false,
        options: .readOnly)
      #expect(after.token.number == 6, "\(survivor.description)")
    }
    try store.close()
  }

  @Test func aFullDisk() throws {
    let lab = ShippingLab()
    let store = try lab.store()
    let shipper = try lab.shipper()
    _ = try shipper.pass()
    try store.note("1", text: String(repeating: "long", count: 9_999))
    let names = lab.names
    lab.disk.inject(FaultInjection(.write, .noSpace, pathSuffix: ".segment.new"))
    let error = #expect(throws: AnnalsError.self) { try shipper.pass() }
    #expect(error?.code == .noSpace && error?.message.contains("/folder/") == true)
    #expect(lab.names == names)
    #expect(try shipper.pass().segments == 1)
    #expect(try lab.restored() == canonical(store, at: 2))
  }

  /// Each call of a pass fails once, with and without its effect; the next pass goes on.
  @Test(arguments: [StorageError.Operation.create, .write, .sync, .place, .syncDirectory, .open])
  func failingCalls(operation: StorageError.Operation) throws {
    for after in 0..<4 {
      for effect in [FaultInjection.Effect.none, .complete] {
        let lab = ShippingLab()
        let store = try lab.store()
        try lab.ship()
        try store.note("1")
        let shipper = try lab.shipper()
        lab.disk.inject(FaultInjection(operation, after: after, .ioError, effect: effect))
        let first = Result { try shipper.pass() }
        lab.disk.removeInjections()
        let report = try shipper.pass()
        #expect(report.head == 2, "\(operation) \(after) \(effect): \(first)")
        #expect(try lab.restored() == canonical(store, at: 2))
      }
    }
  }

  /// All that was synced when a pass began is in the folder when it ends, and not more than was
  /// committed: so with a pass every S seconds a lost machine loses S seconds and one pass.
  @Test(arguments: [1, 2] as [UInt64]) func theLossIsBounded(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let lab = ShippingLab()
    let store = try lab.store()
    let shipper = try lab.shipper()
    for pass in 0..<25 {
      for note in 0..<random.below(5) { try store.note("\(seed) \(pass) \(note)") }
      let acknowledged = store.token.number
      // Another commit comes while the file is synced or the segment written.
      if random.below(2) == 0 {
        let id = "\(seed) \(pass) meanwhile"
        lab.disk.duringNextSync { try? store.note(id) }
      }
      let report = try shipper.pass()
      #expect(report.head >= acknowledged && report.head <= store.token.number)
      try lab.restoring { restored, _ in #expect(restored.token.number == report.head) }
    }
  }
}
