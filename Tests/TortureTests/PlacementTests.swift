import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage
import SystemPackage
import Testing

@testable import AnnalsTorture

/// A new store whose name could not be given, or not for certain: it is gone, also after a power
/// cut, or the error says that nobody knows.
@Suite struct PlacementTests {
  /// A way to make a store at `/new.annals`.
  enum Making: String, CaseIterable, Sendable {
    case creation, base, replay, salvage
  }

  private let path = "/new.annals"

  /// What lies there before: a store to replay and to salvage.
  private func disk(placesByLinking: Bool) throws -> FaultyFileSystem {
    let files = FaultyFileSystem()
    files.placesByLinking = placesByLinking
    let store = try Store(
      StoreLocation(fileSystem: files, path: "/old.annals"), schema: Note.schema,
      environment: .fixed(start: Timestamp(microseconds: 1), seed: 1))
    try store.close()
    return files
  }

  private func make(_ making: Making, _ files: FaultyFileSystem) throws {
    let new = StoreLocation(fileSystem: files, path: path)
    let old = StoreLocation(fileSystem: files, path: "/old.annals")
    let environment = StoreEnvironment.fixed(start: Timestamp(microseconds: 9), seed: 3)
    switch making {
    case .creation:
      _ = try Store(new, creates: true, environment: environment)
    case .base:
      try Store.create(
        new, base: 7, timestamp: Timestamp(microseconds: 5), environment: environment
      ) { try $0.require(Note.schema) }
    case .replay:
      let store = try Store(old, creates: false, options: .readOnly, environment: environment)
      try store.replay(to: path, at: 1)
    case .salvage:
      _ = try Store.salvage(old, to: path, environment: environment)
    }
  }

  /// Sees that the store is whole if it is there; returns whether it is.
  private func isThere(_ files: FaultyFileSystem) throws -> Bool {
    guard try files.identity(of: path) != nil else { return false }
    let store = try Store(StoreLocation(fileSystem: files, path: path), creates: false)
    #expect(try store.verifyHistory() == [])
    try store.close()
    return true
  }

  /// Lets the placing of the store fail in one way, and what takes it back as well or not.
  private func fail(
    _ making: Making, _ operation: StorageError.Operation, _ effect: FaultInjection.Effect,
    isStuck: Bool, placesByLinking: Bool
  ) throws {
    let place: Comment = "\(making) \(operation) \(effect) \(isStuck) \(placesByLinking)"
    let files = try disk(placesByLinking: placesByLinking)
    // The directory is synced once more before the store is placed where a scratch file is made.
    let suffix = operation == .remove ? ".annals.new" : ".annals"
    files.inject(FaultInjection(operation, .ioError, effect: effect, pathSuffix: suffix))
    if isStuck {
      let isSync = operation == .syncDirectory
      files.inject(
        FaultInjection(
          .syncDirectory, after: isSync ? 1 : 0, .ioError, count: 9, pathSuffix: ".annals"))
    }
    let error = #expect(throws: AnnalsError.self, place) { try make(making, files) }
    #expect(error?.code == (isStuck ? .outcomeUnknown : .io), place)
    #expect(error?.underlying == .ioError, place)
    #expect(files.paths == ["/old.annals"], place)
    #expect(try !isThere(files.afterKill()), place)
    files.cutPower()
    var thereCount = 0
    try files.forEachSurvivor { if try isThere($0.files) { thereCount += 1 } }
    #expect((thereCount > 0) == isStuck, "\(place): there in \(thereCount) states")
  }

  @Test(arguments: Making.allCases, [false, true])
  func whatCouldNotBePlacedIsGoneOrInDoubt(_ making: Making, placesByLinking: Bool) throws {
    var ways: [(StorageError.Operation, FaultInjection.Effect)] = [
      (.syncDirectory, .none), (.syncDirectory, .complete),
    ]
    ways += placesByLinking ? [(.link, .complete), (.remove, .none)] : [(.place, .complete)]
    for (operation, effect) in ways {
      for isStuck in [false, true] {
        try fail(making, operation, effect, isStuck: isStuck, placesByLinking: placesByLinking)
      }
    }
  }

  @Test func whatWasNeverThereIsKnown() throws {
    for making in Making.allCases {
      let files = try disk(placesByLinking: false)
      files.inject(FaultInjection(.place, .ioError, pathSuffix: "/new.annals"))
      files.inject(FaultInjection(.syncDirectory, .ioError, count: 9, pathSuffix: "/new.annals"))
      let error = #expect(throws: AnnalsError.self) { try make(making, files) }
      #expect(error?.code == .io && files.paths == ["/old.annals"], "\(making)")
    }
  }
}
