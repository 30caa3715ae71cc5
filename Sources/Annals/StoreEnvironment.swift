import AnnalsModel
import AnnalsStorage
import Foundation

/// The environment of a store: the clock, random numbers, and the name of the process that it
/// records.
///
/// Programs use `.system`, the default. Tests use `.fixed`, and get the same bytes in every run.
public struct StoreEnvironment: Sendable {
  /// The current time.
  package var clock: @Sendable () -> Timestamp
  /// A random number; store UUIDs and the ids of openings are made from these.
  public var random: @Sendable () -> UInt64
  /// The name of the process.
  public var processName: String
  /// The identifier of the process.
  public var processID: Int64

  /// Creates an environment from its parts.
  public init(
    now: @escaping @Sendable () -> Date, random: @escaping @Sendable () -> UInt64,
    processName: String, processID: Int64
  ) {
    self.init(
      clock: { Timestamp(now()) }, random: random, processName: processName, processID: processID)
  }

  /// As the other form, with a clock that is exact to the microsecond at all times.
  package init(
    clock: @escaping @Sendable () -> Timestamp, random: @escaping @Sendable () -> UInt64,
    processName: String, processID: Int64
  ) {
    self.clock = clock
    self.random = random
    self.processName = processName
    self.processID = processID
  }

  /// The current time. Stores round it to the microsecond.
  public var now: @Sendable () -> Date {
    get { { [clock] in Date(clock()) } }
    set { clock = { Timestamp(newValue()) } }
  }
}

extension StoreEnvironment {
  /// The system's time.
  @Sendable package static func systemTime() -> Timestamp { Timestamp(Date()) }

  /// The system's clock and random numbers, and this process.
  public static var system: StoreEnvironment {
    StoreEnvironment(
      clock: systemTime,
      random: {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
      },
      processName: ProcessInfo.processInfo.processName,
      processID: Int64(ProcessInfo.processInfo.processIdentifier))
  }

  /// A clock that advances by the same step with each reading, and random numbers from a seed.
  ///
  /// The first reading of the clock gives `start`, each later one `step` microseconds more.
  public static func fixed(
    start: Date = Date(timeIntervalSince1970: 1_700_000_000), step: Int64 = 1_000_000,
    seed: UInt64 = 1, processName: String = "test", processID: Int64 = 1
  ) -> StoreEnvironment {
    fixed(
      start: Timestamp(start), step: step, seed: seed, processName: processName,
      processID: processID)
  }

  /// As the other form, with a start that is exact to the microsecond at all times.
  package static func fixed(
    start: Timestamp, step: Int64 = 1_000_000, seed: UInt64 = 1, processName: String = "test",
    processID: Int64 = 1
  ) -> StoreEnvironment {
    let source = FixedSource(time: start.microseconds, seed: seed)
    return StoreEnvironment(
      clock: { source.nextTime(step: step) }, random: { source.nextNumber() },
      processName: processName, processID: processID)
  }

  /// A random UUID of version 4.
  package func makeUUID() -> RawUUID {
    RawUUID(
      high: random() & ~0xF000 | 0x4000,
      low: random() & ~(3 << 62) | 1 << 63)
  }

  /// A random number other than 0, which means no opening.
  package func makeOpeningID() -> UInt64 {
    let number = random()
    return number == 0 ? 1 : number
  }
}

/// The state of a fixed environment.
private final class FixedSource: Sendable {
  private let time: Locked<Int64>
  private let numbers: Locked<SplitMix64>

  init(time: Int64, seed: UInt64) {
    self.time = Locked(time)
    numbers = Locked(SplitMix64(seed: seed))
  }

  func nextTime(step: Int64) -> Timestamp {
    time.withLock { time in
      defer { time &+= step }
      return Timestamp(microseconds: time)
    }
  }

  func nextNumber() -> UInt64 { numbers.withLock { $0.next() } }
}
