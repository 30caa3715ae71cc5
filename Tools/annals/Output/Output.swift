import Foundation

/// A buffered stream of UTF-8 that a command writes to.
///
/// A write may throw `OutputFault`; what was written before it stays written.
final class Output {
  /// Whether styles are written as colours.
  var usesColor = false
  /// The pager that shows the output on a terminal; nil for none.
  var pager: Pager?

  private var buffer: ContiguousArray<UInt8> = []
  private let limit: Int
  private let sink: (UnsafeRawBufferPointer) throws -> Void

  /// A stream that passes its bytes to `sink`, about `limit` at a time.
  init(limit: Int = 1 << 16, sink: @escaping (UnsafeRawBufferPointer) throws -> Void) {
    self.limit = limit
    self.sink = sink
  }

  /// A stream to an open file, pipe or terminal.
  convenience init(_ handle: FileHandle, limit: Int = 1 << 16) {
    self.init(limit: limit) { bytes in
      do {
        try handle.write(contentsOf: Data(bytes))
      } catch {
        throw OutputFault(error)
      }
    }
  }

  /// Writes text.
  func write(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= limit { try flush() }
  }

  /// Writes bytes.
  func write(_ bytes: ContiguousArray<UInt8>) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= limit { try flush() }
  }

  /// Writes text and a line feed.
  func line(_ text: String = "") throws {
    try write(text)
    try write("\n")
  }

  /// The text in a style, if styles are shown.
  func styled(_ text: String, _ style: Style) -> String {
    usesColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Passes on the buffered bytes.
  func flush() throws {
    guard !buffer.isEmpty else { return }
    defer { buffer.removeAll(keepingCapacity: true) }
    try buffer.withUnsafeBytes { try pager?.write($0) ?? sink($0) }
  }
}

/// A style of text on a terminal. The raw value is the ANSI code.
enum Style: String {
  case heading = "33"
  case inserted = "32"
  case deleted = "31"
  case updated = "36"
  case faint = "2"
  case bold = "1"
}

/// Why output could not be written.
enum OutputFault: Error {
  /// The reader has ended; the command ends quietly.
  case closed
  case failed(String)

  /// The fault for an error of a file handle.
  init(_ error: any Error) {
    let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
    let all = [error as NSError, underlying].compactMap { $0 }
    let codes = all.filter { $0.domain == NSPOSIXErrorDomain }.map { Int32($0.code) }
    if codes.contains(EPIPE) {
      self = .closed
    } else if codes.contains(EBADF) {
      self = .failed("standard output is closed")
    } else {
      let reason = codes.first.map { String(cString: strerror($0)) }
      self = .failed(reason ?? error.localizedDescription)
    }
  }
}
