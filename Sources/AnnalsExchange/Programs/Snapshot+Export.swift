import Annals
import AnnalsStorage
import Foundation

extension Snapshot {
  /// Writes the objects into a new file as JSON Lines, a line each, sorted by entity and key: two
  /// equal states give equal bytes. Packed by gzip if the path ends in `.gz`.
  ///
  /// As in what `annals state` prints, each line has `entity` and `id`. The file has its name only
  /// when it is whole and synced; if anything throws, nothing is left of it. Needs memory for the
  /// keys of one entity, and some 32 MiB.
  ///
  /// - Parameters:
  ///   - path: where the file is to be.
  ///   - entity: the name of the only entity wanted; nil is all.
  ///   - progress: called now and then, on the caller's thread. Throws to stop.
  /// - Returns: how many objects, and the snapshot's token.
  /// - Throws: `.invalidArgument` if there is no such entity; `.alreadyExists` if there is a file
  ///   at `path`, which is left alone; `.noSpace`, `.permission`, `.io`; `.outcomeUnknown` if the
  ///   new name could neither be made durable nor taken back.
  @discardableResult
  public func export(
    to path: String, entity: String? = nil,
    progress: (ExchangeProgress) throws -> Void = { _ in }
  ) throws -> ExportSummary {
    try ExportFile.make(at: path, in: PosixFileSystem()) { file in
      try export(entity, progress) { try file.write($0) }
    }
  }

  /// Hands the objects to `write` as JSON Lines, some 64 KiB at a time, whole lines or not; as
  /// `export(to:entity:progress:)` does with a file. What the closures throw ends it.
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
    for name in entity.map({ [$0] }) ?? schema.entities.filter({ !$0.isRemoved }).map(\.name) {
      total += try count(of: name)
    }
    var count: Int64 = 0
    var lines = CanonicalState(self)
    try lines.write(entity: entity) { piece in
      try write(piece)
      // A line feed within a string is escaped.
      for byte in piece where byte == 0x0A { count += 1 }
      try progress(ExchangeProgress(count: count, fraction: Double(count) / Double(max(total, 1))))
    }
    return ExportSummary(count: count, token: token)
  }
}
