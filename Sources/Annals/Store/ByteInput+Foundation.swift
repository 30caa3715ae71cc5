import AnnalsEngine
import AnnalsLog
import AnnalsStorage
import Foundation

extension ByteInput {
  /// The regular file at a URL; as `init(contentsOf:)` with its path.
  public init(contentsOf url: URL) { self.init(contentsOf: url.path) }

  /// What a file handle yields from its place to its end: a file, a pipe, a socket. The caller
  /// closes it. Its length is not known, so more than 1 MiB go through a temporary file.
  public init(_ handle: FileHandle) {
    self.init { buffer in
      guard let data = try handle.read(upToCount: buffer.count) else { return 0 }
      return data.copyBytes(to: buffer)
    }
  }
}

extension Store {
  /// Gathers what an asynchronous sequence yields, such as the body of a request, to be set in a
  /// transaction: the store is not locked while it arrives.
  ///
  ///     let image = try await store.stage(request.body)
  ///     try await store.write { try $0.set(\Photo.image, of: id, from: image) }
  ///
  /// Up to 1 MiB stay in memory, more go to a temporary file without a name beside the store, which
  /// is freed when the last copy of the result is, or when the process ends. The result can be set
  /// any number of times.
  ///
  /// Throws what the sequence throws, and `.noSpace`, `.permission` or `.io` if the temporary file
  /// cannot be written; `.cancelled` if the task was cancelled.
  public func stage<Pieces: AsyncSequence>(
    _ pieces: Pieces, isolation: isolated (any Actor)? = #isolation
  ) async throws -> ByteInput where Pieces.Element: Collection<UInt8> {
    var staging = Staging(writer.log.makeSpool)
    var iterator = pieces.makeAsyncIterator()
    while let piece = try await iterator.next(isolation: isolation) {
      if Task.isCancelled { throw AnnalsError.cancelledWrite }
      try AnnalsError.translating { try staging.append(piece) }
    }
    if Task.isCancelled { throw AnnalsError.cancelledWrite }
    return try AnnalsError.translating { try staging.finished() }
  }

  /// As the other form, of a sequence of single bytes, such as `FileHandle.bytes`.
  public func stage<Bytes: AsyncSequence>(
    bytes: Bytes, isolation: isolated (any Actor)? = #isolation
  ) async throws -> ByteInput where Bytes.Element == UInt8 {
    var staging = Staging(writer.log.makeSpool)
    var iterator = bytes.makeAsyncIterator()
    var piece: ContiguousArray<UInt8> = []
    while let byte = try await iterator.next(isolation: isolation) {
      piece.append(byte)
      guard piece.count == 1 << 16 else { continue }
      if Task.isCancelled { throw AnnalsError.cancelledWrite }
      try AnnalsError.translating { try staging.append(piece) }
      piece.removeAll(keepingCapacity: true)
    }
    if Task.isCancelled { throw AnnalsError.cancelledWrite }
    return try AnnalsError.translating {
      try staging.append(piece)
      return try staging.finished()
    }
  }
}

/// Gathers bytes in memory, and beyond 1 MiB in a temporary file.
private struct Staging {
  private let makeSpool: () throws -> SpoolFile
  private var bytes: ContiguousArray<UInt8> = []
  private var spool: SpoolFile?

  init(_ makeSpool: @escaping () throws -> SpoolFile) { self.makeSpool = makeSpool }

  mutating func append(_ piece: some Collection<UInt8>) throws {
    bytes.append(contentsOf: piece)
    if bytes.count >= 1 << 20 { try flush() }
  }

  private mutating func flush() throws {
    let file = try spool ?? makeSpool()
    spool = file
    try bytes.withUnsafeBytes { try file.append($0) }
    bytes.removeAll(keepingCapacity: true)
  }

  mutating func finished() throws -> ByteInput {
    guard let spool else { return ByteInput(pieces: [bytes]) }
    if !bytes.isEmpty { try flush() }
    return ByteInput(spool)
  }
}
