import Foundation

/// Prints figures, a line of JSON each: a phase with its times, or a value with its unit.
public struct Recorder: Sendable {
  /// The program that is measured.
  public let peer: String
  /// How it is set up.
  public let configuration: String

  /// Prints figures of this program, set up in this way.
  public init(peer: String, configuration: String) {
    self.peer = peer
    self.configuration = configuration
  }

  /// Runs `body` and prints what it took; `items` is how many things it did.
  @discardableResult
  public func time<R>(_ phase: String, items: Int, _ body: () throws -> R) rethrows -> R {
    let start = Mark()
    let result = try body()
    record(phase, items: items, Mark() - start)
    return result
  }

  /// Runs `body` some times after one run to warm up, and prints the median of the wall times and
  /// the mean of the processor times. `body` returns how many things it did.
  public func median(_ phase: String, of count: Int, _ body: () throws -> Int) rethrows {
    var items = try body()
    var walls: [Int64] = []
    let start = Mark()
    for _ in 0..<count {
      let before = Mark()
      items = try body()
      walls.append((Mark() - before).wall)
    }
    var taken = Mark() - start
    taken.wall = walls.sorted()[count / 2]
    taken.user /= Int64(count)
    taken.system /= Int64(count)
    record(phase, items: items, taken)
  }

  /// Prints what a phase took.
  public func record(_ phase: String, items: Int, _ taken: Mark) {
    let wall = milliseconds(taken.wall)
    let user = milliseconds(taken.user)
    let system = milliseconds(taken.system)
    write(phase, "\"n\":\(items),\"wall_ms\":\(wall),\"user_ms\":\(user),\"sys_ms\":\(system)")
  }

  /// Prints a value.
  public func value(_ phase: String, _ value: Double, _ unit: String) {
    write(phase, "\"value\":\(String(format: "%.6g", value)),\"unit\":\"\(unit)\"")
  }

  /// Prints a number of bytes in units of 2^20.
  public func megabytes(_ phase: String, _ bytes: Int) {
    value(phase, Double(bytes) / 1_048_576, "MB")
  }

  private func write(_ phase: String, _ fields: String) {
    let line =
      "{\"peer\":\"\(peer)\",\"config\":\"\(configuration)\",\"phase\":\"\(phase)\",\(fields)}\n"
    FileHandle.standardOutput.write(Data(line.utf8))
  }

  private func milliseconds(_ nanoseconds: Int64) -> String {
    String(format: "%.4f", Double(nanoseconds) / 1e6)
  }
}

/// Why a program that measures stops: an answer was wrong, or it was called in a wrong way.
public struct Failure: Error, CustomStringConvertible {
  /// What is wrong.
  public let description: String

  /// A failure for this reason.
  public init(_ description: String) {
    self.description = description
  }
}

/// Stops the measuring if two answers differ.
public func expect<T: Equatable>(_ what: String, _ found: T, is wanted: T) throws {
  guard found == wanted else {
    throw Failure("\(what): found \(found), expected \(wanted)")
  }
}
