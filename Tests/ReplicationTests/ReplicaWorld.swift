import Annals
import AnnalsExchange
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// A folder, and how many notes are in it.
struct Folder: Record {
  var name: String
  var size = 0
  static let entity = RecordEntity(
    "Folder", Folder.init, Property("name", \.name).unique().preservedAfterDeletion(),
    Property("size", \.size).derived(.count(\.notes)).indexed())
  static let notes = Inverse(\Note.folder)
}

/// A note, which goes with its folder.
struct Note: Record {
  var title: String
  var count: Int
  var image: Data?
  var folder: Reference<Folder>?
  var friends: [Reference<Note>]
  var key = ""
  static let entity = RecordEntity(
    "Note", Note.init, Property("title", \.title).indexed().whenErased("erased"),
    Property("count", \.count),
    Property("image", \.image), Property("folder", \.folder).onDelete(.cascade),
    Property("friends", \.friends, isOrdered: true).onDelete(.nullify),
    Property("key", \.key).derived(.normalized(\.title)).indexed().whenErased("erased"))

  init(
    title: String, count: Int = 0, image: Data? = nil, folder: Reference<Folder>? = nil,
    friends: [Reference<Note>] = [], key: String = ""
  ) {
    (self.title, self.count, self.image) = (title, count, image)
    (self.folder, self.friends, self.key) = (folder, friends, key)
  }
}

/// Replicas of one log, each in a file in memory that outlives it.
final class ReplicaWorld {
  let log: InMemorySharedLog
  let places: [StoreLocation]
  var replicas: [Replica] = []
  private var openings: UInt64 = 0
  private let seed: UInt64

  init(_ count: Int, log: InMemorySharedLog = InMemorySharedLog(), seed: UInt64 = 0) {
    self.log = log
    self.seed = seed
    places = (0..<count).map {
      StoreLocation(fileSystem: MemoryFileSystem(), path: "/replica-\($0).annals")
    }
  }

  /// Options for tests: short pauses, and nothing by itself.
  static var options: ReplicaOptions {
    var options = ReplicaOptions()
    options.follows = false
    options.lease = nil
    // However busy the machine is.
    options.deadline = .seconds(36_000)
    options.firstPause = .microseconds(50)
    options.longestPause = .milliseconds(1)
    options.store.lockTimeout = .seconds(600)
    return options
  }

  /// Opens the replica in a place.
  func open(
    _ index: Int, _ options: ReplicaOptions = ReplicaWorld.options, over log: (any SharedLog)? = nil
  ) async throws -> Replica {
    openings += 1
    return try await Replica.open(
      places[index], records: Folder.self, Note.self, log: log ?? self.log, options: options,
      environment: .fixed(
        seed: seed + openings * 31 + UInt64(index), processName: "replica \(index)",
        processID: Int64(index + 1)))
  }

  /// Opens all replicas.
  func openAll(_ options: ReplicaOptions = ReplicaWorld.options) async throws {
    for index in places.indices { replicas.append(try await open(index, options)) }
  }

  /// Brings all replicas up to date, and expects them to be equal.
  func expectEqual(_ comment: Comment? = nil) async throws {
    for replica in replicas { try await replica.catchUp() }
    try expectEqualStores(replicas.map(\.store), comment)
  }
}

/// Expects stores to have the same history, the same tokens and the same states, at each number
/// that all have. After a power cut a slot may be damaged until it is written again: a warning.
func expectEqualStores(
  _ stores: [Store], _ comment: Comment? = nil, afterPowerCut: Bool = false
) throws {
  guard let first = stores.first else { return }
  let base = stores.map(\.base.number).max() ?? 0
  let head = stores.map(\.token.number).min() ?? 0
  for store in stores {
    #expect(store.id == first.id, comment)
    let problems = try store.verify().filter {
      afterPowerCut ? $0.severity == .error : $0.severity != .note
    }
    #expect(try store.version.unfinishedErasures().isEmpty, comment)
    #expect(problems.isEmpty, "\(problems) \(comment ?? "")")
    let differences = try first.verify(against: store).filter { $0.severity != .note }
    #expect(differences.isEmpty, "\(differences) \(comment ?? "")")
  }
  for number in base...head {
    let states = try stores.map { try stateText($0, at: number) }
    let areEqual = states.allSatisfy { $0 == states[0] }
    #expect(areEqual, "the states at \(number) differ \(comment ?? "")")
    let tokens = try stores.map { try $0.version.snapshot(at: number).token }
    if number > base { #expect(tokens.allSatisfy { $0 == tokens[0] }, comment) }
  }
  // From the base on, a store that has one writes its state, too.
  let start = base == 0 ? 0 : min(base + 1, head)
  let histories = try stores.map { try historyText($0, after: start, through: head) }
  for history in histories where history != histories[0] {
    let lines = zip(histories[0].split(separator: "\n"), history.split(separator: "\n"))
    Issue.record("histories differ: \(lines.first { $0 != $1 } ?? ("", ""))")
  }
}

/// Expects that a replica's file can make each transaction again as the log has it, unless
/// something was erased: then one that made values which are gone cannot be made again, and is no
/// other.
func expectRemade(
  _ replica: Replica, _ log: InMemorySharedLog, _ comment: Comment? = nil
) throws {
  let version = replica.store.version
  let hasErasures = try !version.erasures(after: version.base.number).isEmpty
  let offset = version.token.number - Int64(replica.status.sequence)
  let contents = log.contents
  for (index, record) in contents.records.enumerated() {
    let number = Int64(contents.first) + Int64(index) + offset
    guard number > version.base.number + 1, number <= version.token.number else { continue }
    guard let made = try version.portableTransaction(number) else {
      #expect(hasErasures, "transaction \(number) is made otherwise \(comment ?? "")")
      continue
    }
    #expect(made.digest.description == record.id, comment)
  }
}

/// The canonical text of a state.
func stateText(_ store: Store, at number: Int64) throws -> String {
  var data = Data()
  try store.version.snapshot(at: number).export { data.append($0) }
  return String(decoding: data, as: UTF8.self)
}

/// The history as lines.
func historyText(_ store: Store, after: Int64, through: Int64) throws -> String {
  var data = Data()
  try store.export(after: after, through: through) { data.append($0) }
  return String(decoding: data, as: UTF8.self)
}

/// Runs `body`, and returns the code of the error that it throws.
func replicationError(
  _ body: () async throws -> Void
) async -> ReplicationError? {
  do {
    try await body()
    return nil
  } catch let error as ReplicationError {
    return error
  } catch {
    Issue.record("another error: \(error)")
    return nil
  }
}

/// Inserts notes into an ordinary store, which is then closed. Returns its last position.
@discardableResult
func insertDirectly(
  _ titles: [String], at place: StoreLocation, leavesSharedLog: Bool = false
) throws -> Token {
  var options = StoreOptions()
  options.leavesSharedLog = leavesSharedLog
  let store = try Store(place, records: Folder.self, Note.self, options: options)
  for title in titles {
    try store.write(author: "early") { tx in _ = try tx.insert(Note(title: title)) }
  }
  try store.close()
  return store.token
}

/// Commits a transaction to a store's file as a replica does, and does no more.
func commitDirectly(_ transaction: PortableTransaction, to store: Store) throws {
  try store.writer.write {
    _ = try transaction.commit(to: $0, at: UInt64(transaction.number))
  }
}
