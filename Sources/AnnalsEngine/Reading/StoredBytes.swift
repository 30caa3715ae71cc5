import AnnalsLog
import AnnalsModel
import AnnalsState

/// The bytes of one value, in a snapshot, a transaction or a change: those of data, or of a string,
/// url or json as UTF-8. A value over 4 KiB stays in the file until its bytes are asked for, a
/// range or a piece at a time.
///
/// A value that refers to its snapshot's file, and can be read as long as it is kept; safe on any
/// thread. Every read checks the pieces that it reads, each of at most 1 MiB, and throws `.damaged`
/// with the offset if one was changed; damage elsewhere in the value does not matter to it. A
/// reading of all bytes in order also compares the checksum of the whole, after the last piece.
public struct StoredBytes: Sendable {
  private enum Content {
    case held(ContiguousArray<UInt8>)
    case stored(LargeValue, any LargeValueSource)
  }

  private let content: Content

  /// The bytes of a value; nil if the value has none, for it is of another kind.
  init?(_ value: Value, from source: any LargeValueSource) {
    switch value {
    case .string(let text), .url(let text), .json(let text):
      content = .held(ContiguousArray(text.utf8))
    case .data(let bytes): content = .held(ContiguousArray(bytes))
    case .large(let large): content = .stored(large, source)
    default: return nil
    }
  }

  /// How many bytes there are. O(1); reads nothing.
  public var count: Int {
    switch content {
    case .held(let bytes): bytes.count
    case .stored(let value, _): Int(clamping: value.length)
    }
  }

  /// All bytes, in memory. Throws as `forEachPiece(in:_:)` does.
  public func read() throws(AnnalsError) -> [UInt8] { try read(0..<count) }

  /// The bytes of a range, or those of them that there are: none from the end on, as reading a file
  /// returns. Throws as `forEachPiece(in:_:)` does. Memory: the range, and one piece.
  public func read(_ range: Range<Int>) throws(AnnalsError) -> [UInt8] {
    let range = range.clamped(to: 0..<count)
    return try AnnalsError.translating {
      var result: [UInt8] = []
      if case .held = content { result.reserveCapacity(range.count) }
      if case .stored(let value, let source) = content, UInt64(range.count) == value.length {
        return Array(try source.bytes(of: value))
      }
      try forEachPiece(in: range) { result.append(contentsOf: $0) }
      return result
    }
  }

  /// Calls `body` with the bytes, or those of a range that there are, in order: pieces of at most
  /// 1 MiB, each of which was checked before. Memory: one piece, and the same again where it is
  /// stored compressed.
  ///
  /// Passing over a piece costs O(1), so reading from the middle does not read what is before.
  /// Throws `.damaged` with the offset for bytes that were changed; `.lost` if they were lost
  /// before the store was salvaged; `.io`; and what `body` throws. What `body` was given before is
  /// right, but for the whole's checksum.
  public func forEachPiece(
    in range: Range<Int>? = nil, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let range = (range ?? 0..<count).clamped(to: 0..<count)
    switch content {
    case .held(let bytes):
      guard !range.isEmpty else { return }
      try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    case .stored(let value, let source):
      let wanted = UInt64(range.lowerBound)..<UInt64(range.upperBound)
      guard try source.forEachPiece(of: value, in: wanted, body) else {
        throw AnnalsError(LogError.largeValueLost(value.number))
      }
    }
  }

  /// A cursor before the byte at `offset`, or at the end if there are fewer.
  public func makeCursor(from offset: Int = 0) throws(AnnalsError) -> Cursor {
    insist(offset >= 0, "a cursor before the first byte")
    return try Cursor(self, from: min(offset, count))
  }

  /// Reads the bytes piece by piece, whenever the next is asked for.
  public struct Cursor: Sendable {
    private let bytes: StoredBytes
    /// The offset of the next byte.
    public private(set) var offset: Int
    private var pieces: LargeValueCursor?

    init(_ bytes: StoredBytes, from offset: Int) throws(AnnalsError) {
      self.bytes = bytes
      self.offset = offset
      guard case .stored(let value, let source) = bytes.content else { return }
      pieces = try source.cursor(of: value)
      if offset > 0 {
        try AnnalsError.translating { try pieces?.seek(to: UInt64(offset)) }
      }
    }

    /// The next bytes, at most 1 MiB; nil at the end. Throws as `forEachPiece(in:_:)` does; the
    /// next call tries again.
    public mutating func next() throws(AnnalsError) -> [UInt8]? {
      guard var pieces else {
        guard offset < bytes.count else { return nil }
        let result = try bytes.read(offset..<bytes.count)
        offset = bytes.count
        return result
      }
      var result: [UInt8] = []
      let wanted = offset
      try AnnalsError.translating {
        while !pieces.isAtEnd, result.isEmpty {
          let start = Int(clamping: pieces.position)
          try pieces.withNext { result = Array($0.dropFirst(max(0, wanted - start))) }
        }
      }
      self.pieces = pieces
      offset += result.count
      return result.isEmpty ? nil : result
    }
  }
}

extension StoredBytes {
  /// The pieces as an asynchronous sequence, of at most 1 MiB each: for the body of a response.
  /// Reads a piece, on the task's thread, when it is asked for.
  public var pieces: Pieces { Pieces(bytes: self) }

  /// The pieces of stored bytes, in order.
  public struct Pieces: AsyncSequence, Sendable {
    /// Some bytes, not empty.
    public typealias Element = [UInt8]
    let bytes: StoredBytes

    /// An iterator before the first piece.
    public func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes) }

    /// Reads one piece after the other.
    public struct Iterator: AsyncIteratorProtocol {
      let bytes: StoredBytes
      private var cursor: Cursor?

      init(bytes: StoredBytes) { self.bytes = bytes }

      /// The next piece; nil at the end, and once the task is cancelled. Throws as
      /// `StoredBytes.forEachPiece(in:_:)` does.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws(AnnalsError) -> [UInt8]? {
        if Task.isCancelled { return nil }
        if cursor == nil { cursor = try bytes.makeCursor() }
        return try cursor?.next()
      }
    }
  }
}

extension StateReader {
  /// The bytes of an attribute of an object; nil if it has no value, or the object does not exist.
  /// A required attribute that was added after the object has its default.
  ///
  /// Throws `.erased` if the value was erased, `.invalidArgument` if it has no bytes, being a
  /// number or another kind, and `.otherStore` if the object is one of another store.
  package func bytes(
    of attribute: Attribute, _ id: ObjectID
  ) throws(AnnalsError) -> StoredBytes? {
    try id.requireOwn(store)
    guard var value = try state.valueIfThere(ObjectReference(id), attribute.number) else {
      return nil
    }
    if value.isNull, !attribute.isOptional { value = attribute.defaultValue ?? .null }
    let entity = state.schema.entity(numbered: id.entity)?.name ?? "#\(id.entity)"
    return try StoredBytes.make(value, largeValues, "\(entity)#\(id.row).\(attribute.name)")
  }
}

extension StoredBytes {
  /// The bytes of a value; nil for null. `name` is for messages.
  static func make(
    _ value: Value, _ source: any LargeValueSource, _ name: String
  ) throws(AnnalsError) -> StoredBytes? {
    if value.isNull { return nil }
    if value.isErased { throw AnnalsError(.erased, "\(name) was erased") }
    if let bytes = StoredBytes(value, from: source) { return bytes }
    throw AnnalsError(
      .invalidArgument,
      "\(name) is a value of type \(value.tag); only data, string, url and json have bytes to read")
  }
}
