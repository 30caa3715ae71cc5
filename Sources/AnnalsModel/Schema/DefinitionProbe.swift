/// Counts, in debug builds, how many definitions of entities and properties were gone through: what
/// a schema of thousands of them costs, whatever the machine. A test counts within `counting`.
package enum DefinitionProbe {
  #if DEBUG
    /// How many there were.
    package final class Counter: @unchecked Sendable {
      // One thread at a time: tasks and threads do not share what they count.
      package fileprivate(set) var count = 0
    }

    @TaskLocal private static var counter: Counter?

    /// Runs `body` and returns how many definitions were gone through on this thread.
    package static func counting(_ body: () throws -> Void) rethrows -> Int {
      let counter = Counter()
      try $counter.withValue(counter) { try body() }
      return counter.count
    }
  #endif

  /// Notes that so many definitions are gone through.
  @inline(__always)
  package static func count(_ definitions: Int) {
    #if DEBUG
      counter?.count += definitions
    #endif
  }
}
