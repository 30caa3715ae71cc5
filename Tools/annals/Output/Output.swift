import Annals
import Foundation

/// A buffered stream of UTF-8 that a command writes to.
///
/// Hidden characters, of stored text or the user's own, are escaped in all that is written, so that
/// nothing can act on a terminal. Only the stream itself adds styles.
///
/// A write may throw `OutputFault`; what was written before it stays written.
final class Output {
  /// Whether styles are written as colours.
  var usesColor = false
  /// The pager that shows the output on a terminal; nil for none.
  var pager: Pager?

  private var buffer: ContiguousArray<UInt8> = []
  /// The bytes of a character that the next bytes complete.
  private var incomplete: ContiguousArray<UInt8> = []
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

  /// Writes text of one or more lines.
  func write(_ text: String) throws { try append(text, .lines) }

  /// Writes UTF-8 bytes of one or more lines. A character may be cut in two between calls.
  func write(_ bytes: ContiguousArray<UInt8>) throws {
    let all = incomplete.isEmpty ? bytes : incomplete + bytes
    all.withUnsafeBytes { all in
      let end = all.count - HiddenCharacters.incompleteEnd(of: all)
      TextEscaping.lines.append(UnsafeRawBufferPointer(rebasing: all[..<end]), to: &buffer)
      incomplete = ContiguousArray(all[end...])
    }
    if buffer.count >= limit { try flush() }
  }

  /// Writes a line feed after text on one line.
  func line(_ text: String = "") throws {
    try append(text, .line)
    try write("\n")
  }

  /// Writes a line whose beginning is in a style, if styles are shown.
  func line(_ text: String, _ style: Style, _ rest: String = "") throws {
    if usesColor { buffer.append(contentsOf: "\u{1B}[\(style.rawValue)m".utf8) }
    try append(text, .line)
    if usesColor { buffer.append(contentsOf: "\u{1B}[0m".utf8) }
    try line(rest)
  }

  /// Writes text unchanged: for data in a form that has no escapes. Never for a terminal.
  func write(exactly text: String) throws { try write(exactly: ContiguousArray(text.utf8)) }

  /// Writes bytes unchanged: for data that is compared by its bytes. Never for a terminal.
  func write(exactly bytes: ContiguousArray<UInt8>) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= limit { try flush() }
  }

  /// Writes text over the terminal's present line, and passes it on.
  func replaceLine(with text: String) throws {
    buffer.append(UInt8(ascii: "\r"))
    try append(text, .line)
    buffer.append(contentsOf: "\u{1B}[K".utf8)
    try flush()
  }

  private func append(_ text: String, _ escaping: TextEscaping) throws {
    var text = text
    text.withUTF8 { escaping.append(UnsafeRawBufferPointer($0), to: &buffer) }
    if buffer.count >= limit { try flush() }
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
