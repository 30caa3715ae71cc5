/// The arguments of a command line as bytes.
///
/// The standard library repairs invalid UTF-8, so that a path would name another file. Such an
/// argument is refused instead.
struct RawArguments {
  private let arguments: [[UInt8]]

  init(_ arguments: [[UInt8]]) {
    self.arguments = arguments
  }

  /// The arguments of the process, without its name.
  static var ofProcess: RawArguments {
    let count = Int(CommandLine.argc)
    return RawArguments(
      (1..<max(1, count)).compactMap { index in
        CommandLine.unsafeArgv[index].map { start in
          var end = start
          while end.pointee != 0 { end += 1 }
          return UnsafeBufferPointer(start: start, count: end - start).map { UInt8(bitPattern: $0) }
        }
      })
  }

  /// The arguments as text. Throws a failure with status `usage` for one that is not UTF-8.
  func decoded() throws(CommandFailure) -> [String] {
    var result: [String] = []
    for (index, bytes) in arguments.enumerated() {
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw CommandFailure(
          "argument \(index + 1) is not UTF-8: `\(RawArguments.shown(bytes))`. Give it as UTF-8; a "
            + "file of that name has to be renamed first", status: .usage)
      }
      result.append(text)
    }
    return result
  }

  /// The bytes as text, with control characters and bytes beyond ASCII as `\xHH`.
  private static func shown(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      if (32..<127).contains(byte) { return String(UnicodeScalar(byte)) }
      return byte.escaped
    }.joined()
  }
}

extension UInt8 {
  /// `\xHH`.
  var escaped: String {
    let digits = String(self, radix: 16, uppercase: true)
    return "\\x" + (digits.count < 2 ? "0" : "") + digits
  }
}
