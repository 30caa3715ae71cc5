import Annals
import AnnalsStorage
import Foundation

extension Store {
  /// Writes transactions into a new file as JSON Lines, a line each, which `Store.import` and
  /// `annals import` read back exactly; packed by gzip if the path ends in `.gz`.
  ///
  /// The file has its name only when it is whole and synced; if anything throws, also `progress`,
  /// nothing is left of it. (A process that is killed meanwhile leaves a file whose name goes on
  /// with `.part-`.) The store can be read and written meanwhile. Memory does not grow with it.
  ///
  /// - Parameters:
  ///   - path: where the file is to be.
  ///   - after: only what came after this token, number or date; nil is the oldest position. The
  ///     base of a pruned store is written only from there.
  ///   - through: only what came up to and with this position; nil is the newest.
  ///   - progress: called after each transaction, on the caller's thread. Throws to stop.
  /// - Returns: how many transactions, and up to where.
  /// - Throws: `.alreadyExists` if there is a file at `path`, which is left alone; `.noSpace`,
  ///   `.permission`, `.io`; `.outcomeUnknown` if the new name could neither be made durable nor
  ///   taken back. `.pruned`, `.beyondHead`, `.otherStore`, `.lostBranch`, `.lost` for a position
  ///   that is not of this history, `.invalidArgument` for two in the wrong order.
  @discardableResult
  public func export(
    to path: String, after: (any HistoryPosition)? = nil, through: (any HistoryPosition)? = nil,
    progress: (ExchangeProgress) throws -> Void = { _ in }
  ) throws -> ExportSummary {
    let range = try exportRange(after, through)
    return try ExportFile.make(at: path, in: fileSystemOfCopies) { file in
      try export(range, progress) { try file.write($0) }
    }
  }

  /// Hands transactions to `write` as JSON Lines, some 64 KiB at a time, whole lines or not; as
  /// `export(to:after:through:progress:)` does with a file. What the closures throw ends it.
  @discardableResult
  public func export(
    after: (any HistoryPosition)? = nil, through: (any HistoryPosition)? = nil,
    progress: (ExchangeProgress) throws -> Void = { _ in }, write: (Data) throws -> Void
  ) throws -> ExportSummary {
    try export(try exportRange(after, through), progress) { try write(Data($0)) }
  }

  /// The numbers of the position after which, and of the last transaction that is wanted.
  private func exportRange(
    _ after: (any HistoryPosition)?, _ through: (any HistoryPosition)?
  ) throws(AnnalsError) -> ClosedRange<Int64> {
    let version = version
    var lower = version.base.number
    if let after { lower = try version.number(at: after.historyPlace) }
    var upper = version.token.number
    if let through { upper = try version.number(at: through.historyPlace) }
    guard lower <= upper else {
      throw AnnalsError(
        .invalidArgument,
        "transactions after \(lower) were asked for, up to \(upper); exchange the two")
    }
    return lower...upper
  }

  private func export(
    _ range: ClosedRange<Int64>, _ progress: (ExchangeProgress) throws -> Void,
    _ write: (ContiguousArray<UInt8>) throws -> Void
  ) throws -> ExportSummary {
    let total = range.upperBound - range.lowerBound
    var lines = HistoryExport(self, after: range.lowerBound, through: range.upperBound)
    try lines.write(to: write) { number in
      let count = number - range.lowerBound
      try progress(ExchangeProgress(count: count, fraction: Double(count) / Double(max(total, 1))))
    }
    return ExportSummary(count: total, token: try token(at: range.upperBound))
  }
}
