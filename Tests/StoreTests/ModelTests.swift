import Annals
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// A store does what the naive model does, whatever happens to it.
///
/// `ANNALS_MODEL_ROUNDS` makes it longer, `ANNALS_MODEL_SEED` begins at another seed.
@Suite struct ModelTests {
  private static let rounds = number("ANNALS_MODEL_ROUNDS", default: 2)
  private static let firstSeed = number("ANNALS_MODEL_SEED", default: 1)

  private static func number(_ name: String, default value: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? value
  }

  @Test(arguments: firstSeed..<firstSeed + rounds)
  func memory(seed: Int) throws {
    try run(seed, StoreLocation(fileSystem: MemoryFileSystem(), path: "/model.annals"))
  }

  @Test(arguments: firstSeed..<firstSeed + max(1, rounds / 2))
  func file(seed: Int) throws {
    let folder = try TemporaryFolder()
    try run(seed + 1_000_000, .file(folder.path("model.annals")))
  }

  private func run(_ seed: Int, _ location: StoreLocation) throws {
    print("ANNALS_MODEL_SEED=\(seed % 1_000_000)")
    let run = try ModelRun(seed: UInt64(seed), location: location)
    do {
      for _ in 0..<80 { try run.step() }
      try run.compareAll()
    } catch {
      let steps = run.steps.suffix(60).joined(separator: "\n")
      Issue.record("seed \(seed), after \(run.steps.count) steps: \(error)\n\(steps)")
    }
  }
}
