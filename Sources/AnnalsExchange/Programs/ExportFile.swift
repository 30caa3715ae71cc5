import Annals
import AnnalsFormat
import AnnalsStorage

/// A new file of lines, compressed by gzip if its name ends in `.gz`.
struct ExportFile {
  private let unfinished: UnfinishedFile
  private let file: any StorageFile
  private let deflater: GzipDeflater?
  private var size: UInt64 = 0
  private var packed: ContiguousArray<UInt8> = []

  /// Makes the file at `path` from what `body` writes, with the mode of the file `original`. The
  /// file gets its name when it is complete and synced. If anything throws, no file is left.
  static func make<R>(
    at path: String, like original: String? = nil, in fileSystem: any FileSystem,
    _ body: (inout ExportFile) throws -> R
  ) throws -> R {
    let unfinished = try UnfinishedFile(for: path, in: fileSystem)
    var made = try ExportFile(unfinished, like: original)
    let result: R
    do {
      result = try body(&made)
      try made.seal()
    } catch {
      made.file.close()
      unfinished.discard()
      throw error
    }
    try unfinished.place()
    return result
  }

  private init(_ unfinished: UnfinishedFile, like original: String?) throws(AnnalsError) {
    self.unfinished = unfinished
    file = try AnnalsError.translating {
      try unfinished.fileSystem.create(unfinished.path, like: original, requiresOwner: false)
    }
    deflater = unfinished.destination.hasSuffix(".gz") ? GzipDeflater() : nil
  }

  /// Adds lines, or parts of lines.
  mutating func write(_ lines: ContiguousArray<UInt8>) throws(AnnalsError) {
    guard let deflater else { return try append(lines) }
    lines.withUnsafeBytes { deflater.append($0, to: &packed) }
    if packed.count >= 1 << 16 { try appendPacked() }
  }

  /// Writes what is left, syncs and closes the file.
  private mutating func seal() throws(AnnalsError) {
    if let deflater {
      deflater.appendEnd(to: &packed)
      try appendPacked()
    }
    try AnnalsError.translating { try file.sync() }
    file.close()
  }

  private mutating func appendPacked() throws(AnnalsError) {
    try append(packed)
    packed.removeAll(keepingCapacity: true)
  }

  private mutating func append(_ bytes: ContiguousArray<UInt8>) throws(AnnalsError) {
    try AnnalsError.translating {
      try bytes.withUnsafeBytes { try file.write($0, at: size) }
    }
    size += UInt64(bytes.count)
  }
}
