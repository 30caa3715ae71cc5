import Annals
import AnnalsModel
import AnnalsState
import Foundation
import Testing

/// What typed access costs. Prints in any build, and holds optimised ones to their figures.
@Suite(.serialized) struct RecordSpeedTests {
  @Test func eightPropertiesTakeAFractionOfAMicrosecond() throws {
    var bench = try Bench(Post.self)
    let binding = try bench.binding(Post.self)
    let posts = (0..<1_000).map { Post.sample($0) }
    #if DEBUG
      let count = 2_000
    #else
      let count = 100_000
    #endif
    let clock = ContinuousClock()
    var insertion = Duration.seconds(9)
    for _ in 0..<9 {
      var state = State(schema: bench.state.schema)
      var violations: [ValidationViolation] = []
      let time = try clock.measure {
        for index in 0..<count {
          let row = try state.insertRow(binding.entity)
          try binding.insert(
            posts[index % 1_000], row, into: &state, store: Bench.store,
            largeValues: bench.largeValues, violations: &violations)
        }
      }
      #expect(violations.isEmpty)
      insertion = min(insertion, time)
      bench.state = state
    }
    var reading = Duration.seconds(9)
    var sum = 0
    for _ in 0..<9 {
      let time = try clock.measure {
        var reader = binding.reader(
          of: bench.state, store: Bench.store, largeValues: bench.largeValues)
        for row in 1...count {
          sum += try binding.read(Int64(row), &reader).rating
        }
      }
      reading = min(reading, time)
    }
    #expect(sum > 0)
    let insertMicroseconds = Double(insertion.components.attoseconds) / 1e12 / Double(count)
    let readMicroseconds = Double(reading.components.attoseconds) / 1e12 / Double(count)
    print("typed insert of 8: \(insertMicroseconds) µs, read of 8: \(readMicroseconds) µs")
    #if !DEBUG
      // Three times what a quiet machine shows, for those that are not: lost specialisation costs
      // more than that. A sanitizer costs as much; Tools/test says if there is one.
      if ProcessInfo.processInfo.environment["ANNALS_SANITIZER"] == nil {
        #expect(readMicroseconds < 0.6)
        #expect(insertMicroseconds < 1.5)
      }
    #endif
  }
}
