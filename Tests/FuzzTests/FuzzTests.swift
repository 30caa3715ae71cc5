import Annals
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

@testable import FuzzTargets

/// The targets of Tools/Fuzzing without the fuzzer: every seed, every crasher ever found, and
/// seeded changes of the seeds. Whatever traps takes the test run with it, and the lines before say
/// where.
@Suite struct FuzzTests {
  private static func files(in folder: String) throws -> [(name: String, bytes: Bytes)] {
    let url = packageFolder.appending(path: folder)
    return try FileManager.default.contentsOfDirectory(atPath: url.path).sorted().map {
      ($0, Bytes(try Data(contentsOf: url.appending(path: $0))))
    }
  }

  typealias Bytes = ContiguousArray<UInt8>

  @Test(arguments: FuzzTarget.allCases) func standsSeedsAndTheirChanges(
    target: FuzzTarget
  ) throws {
    let stores = try FuzzTests.files(in: "Fixtures/version-1").filter {
      $0.name.hasSuffix(".annals")
    }
    let seeds = target.seeds(from: stores.map(\.bytes))
    #expect(!seeds.isEmpty)
    for seed in seeds { seed.withUnsafeBytes { target.run($0) } }
    let rounds = target.rounds * (isLong ? 50 : 1)
    let start = UInt64(isLong ? UInt32.random(in: 1 ... .max) : 1)
    for number in start..<start + UInt64(rounds) {
      if isLong, number % 1000 == 0 { print("seed \(target.rawValue) \(number)") }
      var mutation = Mutation(seed: number)
      mutation.changed(seeds).withUnsafeBytes { target.run($0) }
    }
  }

  @Test(arguments: try FuzzTests.crashers()) func standsEveryCrasherFound(name: String) throws {
    let target = try #require(FuzzTarget(rawValue: String(name.prefix { $0 != "-" })))
    let file = packageFolder.appending(path: "\(Self.folder)/\(name)")
    let bytes = Bytes(try Data(contentsOf: file))
    bytes.withUnsafeBytes { target.run($0) }
  }

  /// One seed had an old form of a base.
  @Test func everySeedOfAHistoryIsImported() throws {
    let stores = FuzzTarget.history.seeds(from: []).map { seed in
      seed.withUnsafeBytes { FuzzTexts.imported($0) }
    }
    #expect(stores.allSatisfy { $0.map { $0.token.number > 0 } == true })
    #expect(stores.contains { $0.map { $0.base.number > 0 } == true })
  }

  private static let folder = "Tools/Fuzzing/Crashers"

  private static func crashers() throws -> [String] {
    let names = try FileManager.default.contentsOfDirectory(
      atPath: packageFolder.appending(path: folder).path)
    return names.filter { $0 != "README.md" }.sorted()
  }
}

extension FuzzTarget {
  /// How many changed seeds a short run feeds to the target.
  fileprivate var rounds: Int {
    switch self {
    case .file, .log, .raw, .salvage, .history: 40
    case .schemaJSON: 200
    default: 2000
    }
  }
}

/// Changes bytes as a fuzzer does, the same way for the same seed.
private struct Mutation {
  private var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  private mutating func below(_ limit: Int) -> Int { Int(random.next() % UInt64(max(limit, 1))) }

  /// One of the seeds with some changes.
  mutating func changed(_ seeds: [FuzzTests.Bytes]) -> FuzzTests.Bytes {
    var bytes = seeds[below(seeds.count)]
    for _ in 0...below(4) {
      // Most of a file's first blocks is zeros that a reader only sums up.
      let low = bytes.count > 12_288 && below(8) > 0 ? 12_288 : 0
      let place = low + below(bytes.count - low)
      let length = min(below(24), bytes.count - place)
      switch below(7) {
      case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(below(8))
      case 1 where place < bytes.count: bytes[place] = UInt8(below(256))
      case 2: bytes.insert(contentsOf: repeatElement(UInt8(below(256)), count: below(9)), at: place)
      case 3: bytes.removeSubrange(place..<place + length)
      case 4:
        // A number far beyond what there can be.
        let huge: [[UInt8]] = [
          [255, 255, 255, 255, 255, 255, 255, 255, 127], [255, 255, 3], [128, 128, 16],
        ]
        bytes.replaceSubrange(place..<place, with: huge[below(3)])
      case 5:
        let other = seeds[below(seeds.count)]
        let from = below(other.count)
        bytes.replaceSubrange(
          place..<place + length, with: other[from..<min(from + below(40), other.count)])
      default: bytes.removeLast(min(below(64), bytes.count))
      }
    }
    return bytes
  }
}
