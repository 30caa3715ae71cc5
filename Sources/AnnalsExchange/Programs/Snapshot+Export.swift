import Annals
import AnnalsStorage
import Foundation

extension Snapshot {
  /// Writes the objects into a new file as JSON Lines, one line each, sorted by entity and key, so
  /// that equal states give equal bytes. Compresses with gzip if the path ends in `.gz`.
  ///
  /// Each line has `entity` and `id`, as in the output of `annals state`. The file gets its name
  /// when it is complete and synced; if anything throws, no file is left. Needs memory for the keys
  /// of one entity, and about 32 MiB.
  ///
  /// - Parameters:
  ///   - path: the path of the new file.
  ///   - entity: the name of the entity to export; nil for all.
  ///   - progress: called about every 64 KiB, on the caller's thread. Throw to stop.
  /// - Returns: the number of objects, and the snapshot's token.
  /// - Throws: `.invalidArgument` if there is no such entity; `.alreadyExists` if there is a file
  ///   at `path`, which is left alone; `.noSpace`, `.permission`, `.io`; `.outcomeUnknown` if the
  ///   new name could neither be made durable nor removed again.
  @discardableResult
  public func export(
    to path: String, entity: String? = nil,
    progress: (ExchangeProgress) throws -> Void = { _ in }
  ) throws -> ExportSummary {
    try ExportFile.make(at: path, in: PosixFileSystem()) { file in
      try export(entity, progress) { try file.write($0) }
    }
  }

  /// Passes the objects to `write` as JSON Lines, about 64 KiB at a time, which need not be whole
  /// lines. Otherwise the same as `export(to:entity:progress:)`. Throws what the closures throw.
  @discardableResult
  public func export(
    entity: String? = nil, progress: (ExchangeProgress) throws -> Void = { _ in },
    write: (Data) throws -> Void
  ) throws -> ExportSummary {
    try export(entity, progress) { try write(Data($0)) }
  }

  private func export(
    _ entity: String?, _ progress: (ExchangeProgress) throws -> Void,
    _ write: (ContiguousArray<UInt8>) throws -> Void
  ) throws -> ExportSummary {
    var total = 0
    for name in entity.map({ [$0] }) ?? schema.liveEntities.map(\.name) {
      total += try count(of: name)
    }
    var count: Int64 = 0
    var lines = CanonicalState(self)
    try lines.write(entity: entity) { piece in
      try write(piece)
      // Line feeds in strings are escaped, so each one ends a line.
      for byte in piece where byte == 0x0A { count += 1 }
      try progress(ExchangeProgress(count: count, fraction: Double(count) / Double(max(total, 1))))
    }
    return ExportSummary(count: count, token: token)
  }
}
