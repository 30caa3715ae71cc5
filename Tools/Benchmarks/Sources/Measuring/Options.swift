import Foundation

/// Options of the form `--name value`, and what comes before them.
public struct Options: Sendable {
  /// The arguments that are not options, in their order.
  public private(set) var words: [String] = []
  private var values: [String: String] = [:]

  /// Reads the process's arguments, which may have these options.
  public init(_ names: Set<String>) throws {
    var rest = CommandLine.arguments.dropFirst()
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("--") else {
        words.append(argument)
        continue
      }
      let name = String(argument.dropFirst(2))
      guard names.contains(name), let value = rest.popFirst() else {
        let known = names.sorted().map { "--" + $0 }.joined(separator: " ")
        throw Failure("\(argument) is no option, or has no value; there are: \(known)")
      }
      values[name] = value
    }
  }

  /// The option's value, which must be one of `choices`; the first of them if it is not given.
  public func choice(_ name: String, _ choices: String...) throws -> String {
    let value = values[name] ?? choices[0]
    guard choices.contains(value) else {
      throw Failure("--\(name) is one of: \(choices.joined(separator: " "))")
    }
    return value
  }

  /// The option's value as a number; `standard` if it is not given.
  public func number(_ name: String, _ standard: Int) throws -> Int {
    guard let text = values[name] else { return standard }
    guard let number = Int(text), number >= 0 else { throw Failure("--\(name) is a number") }
    return number
  }

  /// The option's value as a list separated by commas; nil if it is not given.
  public func list(_ name: String) -> [String]? {
    values[name]?.split(separator: ",").map(String.init)
  }
}
