import AnnalsReplication
import Foundation
import Testing

/// The files of version 1 in Fixtures are never made anew: each later version must read these very
/// bytes. `frozen.txt` beside them has the SHA-256 of each.
@Suite struct FrozenFixtureTests {
  @Test func noFixtureOfVersion1HasChanged() throws {
    let frozen = try FrozenFixtures()
    for (name, digest) in frozen.digests {
      let now = try? FrozenFixtures.digest(of: name)
      #expect(now == digest, "\(name) is not what it was: restore it")
    }
    let others = try FrozenFixtures.names().filter { frozen.digests[$0] == nil }
    #expect(others.isEmpty, "freeze them: run StoredFixtureTests with ANNALS_REMAKE_FIXTURES set")
    #expect(frozen.digests.count > 100)
  }
}

/// The stores in the folder of version 1 and the texts of their states, by name.
struct FrozenFixtures {
  private(set) var digests: [String: String] = [:]
  private static let list = FixtureRecipe.folder.appending(path: "frozen.txt")

  /// Reads the list.
  init() throws {
    guard FileManager.default.fileExists(atPath: FrozenFixtures.list.path) else { return }
    for line in try String(contentsOf: FrozenFixtures.list, encoding: .utf8).split(separator: "\n")
    {
      let parts = line.split(separator: " ").map(String.init)
      digests[parts[1]] = parts[0]
    }
  }

  /// The files that are frozen once they are there.
  static func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: FixtureRecipe.folder.path)
      .filter { $0.hasSuffix(".annals") || $0.hasSuffix(".state.jsonl") }.sorted()
  }

  static func digest(of name: String) throws -> String {
    Digest(of: Array(try Data(contentsOf: FixtureRecipe.folder.appending(path: name)))).description
  }

  /// Adds the files that are new; those in the list stay as they are.
  mutating func add() throws {
    for name in try FrozenFixtures.names() where digests[name] == nil {
      digests[name] = try FrozenFixtures.digest(of: name)
    }
    let lines = digests.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)\n" }
    try Data(lines.joined().utf8).write(to: FrozenFixtures.list)
  }
}
