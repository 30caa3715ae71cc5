import Annals
import AnnalsExchange
import AnnalsReplication
import Foundation
import Testing

@testable import AnnalsCommand

/// Real histories with states that were computed elsewhere; where `ANNALS_HISTORIES` points.
@Suite(.serialized) struct HistoryTests {
  /// One line of an oracle.
  struct Expected: Decodable {
    var n: Int64
    var sha256: String
  }

  /// Where the histories are; nil if nobody says, or they are not there.
  static let folder: String? = {
    let path = ProcessInfo.processInfo.environment["ANNALS_HISTORIES"] ?? ""
    return FileManager.default.fileExists(atPath: "\(path)/mini.jsonl") ? path : nil
  }()

  /// The histories, and of how many of the oracle's transactions the state is compared at each
  /// stage after the first.
  @Test(
    .realHistories,
    arguments: [
      ("mini.jsonl", 12), ("sp500-records.jsonl.gz", 22), ("graveyard-records.jsonl.gz", 22),
      ("gemoji-records.jsonl.gz", 8), ("tz-files.jsonl.gz", 22),
    ])
  func statesAreTheOracles(name: String, sample: Int) throws {
    try compareStates(name, sample)
  }

  @Test(
    .realHistories, .enabled(if: isOptimised, "takes minutes without optimisation"),
    arguments: [("congress-records.jsonl.gz", 3), ("opam-files.jsonl.gz", 2)])
  func statesOfTheLargestAreTheOracles(name: String, sample: Int) throws {
    try compareStates(name, sample)
  }

  private static var isOptimised: Bool {
    #if DEBUG
      false
    #else
      true
    #endif
  }

  private func compareStates(_ name: String, _ sample: Int) throws {
    let histories = try #require(HistoryTests.folder)
    let short = name.prefix { $0 != "." }
    let oracle = try JSONDecoder().decode(
      [Expected].self,
      from: Data(contentsOf: URL(fileURLWithPath: "\(histories)/\(short).oracle/oracle.json")))
    let folder = try CommandFolder()
    let path = folder.file("h.annals")
    let source = UnpackingSource(
      FileSource(try #require(FileHandle(forReadingAtPath: "\(histories)/\(name)"))))
    let lines = HistoryImport(
      source, into: .file(path), options: .deferred, environment: folder.store)
    while try lines.next() {}
    let some = HistoryTests.spread(oracle, sample)
    try compare(some, try #require(lines.store), "after import")
    try lines.store?.close()
    try reopened(path, folder) {
      try compare(short == "opam-files" ? some : oracle, $0, "reopened")
    }
    #expect(folder.run("compact", "@h.annals").status == .done)
    try reopened(path, folder) { try compare(some, $0, "compacted") }
    let middle = oracle[oracle.count / 2].n
    #expect(folder.run("prune", "@h.annals", "--yes", "--before", "\(middle)").status == .done)
    try reopened(path, folder) { store in
      #expect(store.base.number == middle - 1)
      try compare(some.filter { $0.n >= middle - 1 }, store, "pruned")
      #expect(throws: AnnalsError.self) { try store.snapshot(at: middle - 2) }
    }
    #expect(folder.run("verify", "@h.annals").status == .done)
  }

  /// About `count` of the list, the first and the last among them.
  private static func spread(_ list: [Expected], _ count: Int) -> [Expected] {
    guard list.count > count, count > 1 else { return list }
    return (0..<count).map { list[$0 * (list.count - 1) / (count - 1)] }
  }

  private func reopened(
    _ path: String, _ folder: CommandFolder, _ body: (Store) throws -> Void
  ) throws {
    let store = try Store(path: path, options: .readOnly, environment: folder.store)
    try body(store)
    try store.close()
  }

  private func compare(_ expected: [Expected], _ store: Store, _ stage: String) throws {
    for line in expected {
      var hash = SHA256()
      var state = CanonicalState(try store.snapshot(at: line.n))
      try state.write { piece in piece.withUnsafeBytes { hash.add($0) } }
      #expect(hash.digest().description == line.sha256, "\(stage), transaction \(line.n)")
    }
  }
}

extension Trait where Self == ConditionTrait {
  /// Runs the test where the real histories are.
  static var realHistories: Self {
    .enabled(
      if: HistoryTests.folder != nil,
      "the real histories are not here: ANNALS_HISTORIES may say where they are")
  }
}
