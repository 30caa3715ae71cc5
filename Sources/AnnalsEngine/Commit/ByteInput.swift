import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// Where the bytes of a value come from that is written without being in memory as a whole: a file,
/// a stream, or pieces that the program makes.
///
/// Give it to `WriteTransaction.set(_:of:from:)`, which reads it once, from front to back, at most
/// 1 MiB at a time. An input of a file can be given to any number of calls, others to one.
public struct ByteInput: Sendable {
  /// Begins a reading. Throws if the input cannot be opened.
  package let open: @Sendable () throws -> Opened

  /// An input that is being read.
  package struct Opened {
    /// How many bytes it has; nil if that is not known before its end.
    package var length: UInt64?
    /// Fills a buffer from its beginning; returns how many bytes it wrote there, 0 only at the end.
    package var read: (UnsafeMutableRawBufferPointer) throws -> Int

    package init(
      length: UInt64?, read: @escaping (UnsafeMutableRawBufferPointer) throws -> Int
    ) {
      self.length = length
      self.read = read
    }
  }

  package init(opening open: @escaping @Sendable () throws -> Opened) { self.open = open }

  /// The bytes that a closure yields.
  ///
  /// - Parameters:
  ///   - length: how many bytes it yields. Without it, more than 1 MiB are written to a temporary
  ///     file beside the store first, since a large value begins with its length.
  ///   - read: writes some bytes to the beginning of the buffer, which is not empty, and returns
  ///     how many; 0 at the end. What it throws, the call that reads the input throws.
  public init(
    length: Int? = nil,
    reading read: @escaping @Sendable (UnsafeMutableRawBufferPointer) throws -> Int
  ) {
    insist(length ?? 0 >= 0, "an input of a negative length")
    open = { Opened(length: length.map { UInt64($0) }, read: read) }
  }

  /// The bytes of the pieces, one after the other. A piece may be of any length.
  public init<Pieces: Sequence & Sendable>(pieces: Pieces)
  where Pieces.Element: Collection<UInt8> {
    open = {
      var iterator = pieces.makeIterator()
      var rest: Pieces.Element.SubSequence?
      return Opened(length: nil) { buffer in
        while rest?.isEmpty ?? true {
          guard let next = iterator.next() else { return 0 }
          rest = next[...]
        }
        guard let piece = rest else { return 0 }
        let count = min(buffer.count, piece.count)
        buffer.copyBytes(from: piece.prefix(count))
        rest = piece.dropFirst(count)
        return count
      }
    }
  }

  /// The regular file at a path, as long as it is when it is opened.
  ///
  /// Reading throws `.notFound`, `.permission` or `.io` if the file cannot be read, and
  /// `.invalidInput` if it has become shorter or longer meanwhile. For pipes and other streams use
  /// a file handle.
  public init(contentsOf path: String) {
    open = {
      try AnnalsError.translating {
        let file = try PosixFileSystem().open(path, for: .reading)
        let reading = FileReading(file)
        return Opened(length: try file.size()) { try reading.read(into: $0) }
      }
    }
  }

  /// The bytes in a spool, as often as they are wanted.
  package init(_ spool: SpoolFile) {
    open = {
      var offset: UInt64 = 0
      return Opened(length: spool.count) { buffer in
        let count = try AnnalsError.translating { try spool.read(into: buffer, at: offset) }
        offset += UInt64(count)
        return count
      }
    }
  }
}

/// A file that is read from front to back, and closed by the last who holds it.
private final class FileReading {
  private let file: any StorageFile
  private var offset: UInt64 = 0

  init(_ file: any StorageFile) { self.file = file }

  deinit { file.close() }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(AnnalsError) -> Int {
    let count = try AnnalsError.translating { try file.read(into: buffer, at: offset) }
    offset += UInt64(count)
    return count
  }
}

/// Reads an input in pieces, with one buffer.
final class InputPieces {
  /// The most bytes of a piece: as many as one of a large value has.
  static let pieceLength = FormatLimits.largeValuePieceLength

  private let input: ByteInput.Opened
  private let buffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: InputPieces.pieceLength, alignment: 16)
  /// The bytes of the piece that was read last.
  private(set) var piece = UnsafeRawBufferPointer(start: nil, count: 0)
  /// Whether the input has no more bytes than the piece.
  private(set) var isAtEnd = false
  /// Checks the bytes, if they must be text.
  private var text: TextCheck?
  /// How many bytes were read.
  private var done: UInt64 = 0

  /// Reads an input, for a value of this kind.
  init(_ input: ByteInput.Opened, for tag: ValueTag) {
    self.input = input
    if tag != .data { text = TextCheck() }
  }

  deinit { buffer.deallocate() }

  /// How many bytes the input has, if that is known before its end.
  var length: UInt64? { input.length }

  /// Reads the next piece, of `count` bytes; fewer only at the end. Throws `.invalidInput` if the
  /// input ends before its length, goes on behind it, or should be text and is none.
  func next(_ count: Int = InputPieces.pieceLength) throws {
    var filled = 0
    while filled < count, !isAtEnd {
      filled += try read(UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<count]))
    }
    piece = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
    done += UInt64(filled)
    if let length {
      let isLonger = try done > length || done == length && !isAtEnd && readsByte()
      if isLonger { throw failure("has more than the \(length) bytes that it should have") }
      if isAtEnd, done < length { throw failure("ends after \(done) of \(length) bytes") }
    }
    if let place = text?.add(piece, isLast: isAtEnd) {
      throw failure("is not UTF-8 text (at byte \(place))")
    }
  }

  private func read(_ buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let count = try input.read(buffer)
    insist(count >= 0 && count <= buffer.count, "an input fills more than its buffer")
    if count == 0 { isAtEnd = true }
    return count
  }

  /// Whether the input has one more byte, which is lost.
  private func readsByte() throws -> Bool {
    var byte: UInt8 = 0
    return try withUnsafeMutableBytes(of: &byte) { try read($0) } > 0
  }

  private func failure(_ what: String) -> AnnalsError {
    AnnalsError(.invalidInput, "the input \(what); nothing of it was stored")
  }
}

/// Checks that bytes which come in pieces are UTF-8.
private struct TextCheck {
  /// How many bytes were checked.
  private var done = 0
  /// The beginning of a character at the end of the last piece.
  private var rest: ContiguousArray<UInt8> = []

  /// The first byte that cannot be text, by its place in the whole, if the piece shows one.
  mutating func add(_ piece: UnsafeRawBufferPointer, isLast: Bool) -> Int? {
    var piece = piece
    // The character that began in the piece before.
    while !rest.isEmpty, rest.count < 4, let byte = piece.first, byte & 0xC0 == 0x80 {
      rest.append(byte)
      piece = UnsafeRawBufferPointer(rebasing: piece.dropFirst())
    }
    if !rest.isEmpty, !piece.isEmpty || isLast {
      guard rest.withUnsafeBytes({ HiddenCharacters.isUTF8($0) }) else { return done }
      done += rest.count
      rest = []
    }
    let end = isLast ? 0 : HiddenCharacters.incompleteEnd(of: piece)
    let whole = UnsafeRawBufferPointer(rebasing: piece.dropLast(end))
    guard HiddenCharacters.isUTF8(whole) else { return done }
    done += whole.count
    rest.append(contentsOf: piece.suffix(end))
    return nil
  }
}
