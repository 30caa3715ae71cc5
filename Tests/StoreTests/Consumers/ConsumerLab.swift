import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// A file of notes that several stores open, with a clock that goes on when it is told to.
final class ConsumerLab {
  let files = HookedFileSystem()
  var location: StoreLocation { StoreLocation(fileSystem: files, path: "/test.annals") }
  private let clock = LabClock()
  private var openings: UInt64 = 0

  /// Notes as elsewhere, with a mark that is preserved, however long it is.
  static let schema = Schema {
    Entity("Note", displayName: "text") {
      Attribute("id", .string, isOptional: false, isUnique: true, isPreservedAfterDeletion: true)
      Attribute("text", .string)
      Attribute("count", .int64)
      Attribute("mark", .string, isPreservedAfterDeletion: true)
    }
  }

  /// What the clock says.
  var now: Timestamp { clock.now }

  /// Turns the clock on.
  func wait(seconds: Double) { wait(microseconds: Int64((seconds * 1_000_000).rounded())) }
  func wait(microseconds: Int64) { clock.turn(by: microseconds) }

  /// What a salvage makes of the file without its fifth transaction, which cannot be read.
  func salvagedWithoutTheFifth() throws -> Store {
    let place = try places(.transaction)[4]
    try files.overwrite([0xFF], at: place + 30, of: location.path)
    _ = try Store.salvage(location, to: "/saved.annals")
    return try Store(StoreLocation(fileSystem: files, path: "/saved.annals"), creates: false)
  }

  /// A store on the file, as another process has it.
  func open(_ options: StoreOptions = StoreOptions()) throws -> Store {
    openings += 1
    let fixed = StoreEnvironment.fixed(seed: openings)
    let clock = clock
    let environment = StoreEnvironment(
      clock: { clock.now }, random: fixed.random, processName: "consumers",
      processID: Int64(openings))
    if options.isReadOnly {
      return try Store(location, creates: false, options: options, environment: environment)
    }
    return try Store(
      location, schema: ConsumerLab.schema, options: options, environment: environment)
  }

  /// A store on the file with this many notes, the first of which is transaction 2.
  func open(notes count: Int) throws -> Store {
    let store = try open()
    for number in 0..<count { try store.note("n\(number)", author: "ann") }
    return store
  }

  /// Where the frames of a kind are.
  func places(_ kind: FrameKind) throws -> [UInt64] {
    try files.frames(of: location.path, kind).map(\.offset)
  }

  /// How many frames of a kind there are; fails where a verification finds anything.
  func frames(_ kind: FrameKind) throws -> Int64 {
    var verification = try PhysicalVerification(
      try location.fileSystem.open(location.path, for: .reading))
    _ = try verification.run { finding in
      if finding.severity > .note { Issue.record("\(finding)") }
    }
    return Int64(try places(kind).count)
  }
}

/// A clock that goes on when it is told to.
private final class LabClock: Sendable {
  private let microseconds = Locked(Int64(1_700_000_000_000_000))

  var now: Timestamp { Timestamp(microseconds: microseconds.withLock { $0 }) }

  func turn(by count: Int64) { microseconds.withLock { $0 += count } }
}

extension History {
  /// The numbers of the transactions.
  func numbers() throws -> [Int64] { try collect().map(\.number) }
}
