import Annals
import AnnalsStorage
import Foundation

extension Store {
  /// Writes transactions into a new file as JSON Lines, one line each, from which `Store.import`
  /// and `annals import` rebuild the same history. Compresses with gzip if the path ends in `.gz`.
  ///
  /// The file has the mode of the store, and gets its name when it is complete and synced; if
  /// anything throws, no file is left. (A process that is killed leaves a file whose name continues
  /// with `.part-`.) The store can be read and written meanwhile. Memory does not grow with the
  /// history.
  ///
  /// - Parameters:
  ///   - path: the path of the new file.
  ///   - after: a token, number or date; only later transactions are written. Nil is the oldest
  ///     position, and only from there the base of a pruned store is written, too.
  ///   - through: the position of the last transaction to write; nil is the newest.
  ///   - progress: called after each transaction, on the caller's thread. Throw to stop.
  /// - Returns: the number of transactions, and the position after the last.
  /// - Throws: `.alreadyExists` if there is a file at `path`, which is left alone; `.noSpace`,
  ///   `.permission`, `.io`; `.outcomeUnknown` if the new name could neither be made durable nor
  ///   removed again. `.pruned`, `.beyondHead`, `.otherStore`, `.lostBranch`, `.lost` for a
  ///   position that is not of this history, `.invalidArgument` for two in the wrong order.
  @discardableResult
  public func export(
    to path: String, after: (any HistoryPosition)? = nil, through: (any HistoryPosition)? = nil,
    progress: (ExchangeProgress) throws -> Void = { _ in }
  ) throws -> ExportSummary {
    let range = try exportRange(after, through)
    return try ExportFile.make(at: path, like: originalOfCopies, in: fileSystemOfCopies) { file in
      try export(range, progress) { try file.write($0) }
    }
  }

  /// Passes transactions to `write` as JSON Lines, about 64 KiB at a time, which need not be whole
  /// lines. Otherwise the same as `export(to:after:through:progress:)`. Throws what the closures
  /// throw.
  @discardableResult
  public func export(
    after: (any HistoryPosition)? = nil, through: (any HistoryPosition)? = nil,
    progress: (ExchangeProgress) throws -> Void = { _ in }, write: (Data) throws -> Void
  ) throws -> ExportSummary {
    try export(try exportRange(after, through), progress) { try write(Data($0)) }
  }

  /// The number after which to begin, and the number of the last transaction to write.
  private func exportRange(
    _ after: (any HistoryPosition)?, _ through: (any HistoryPosition)?
  ) throws(AnnalsError) -> ClosedRange<Int64> {
    let version = version
    var lower = version.base.number
    if let after { lower = try number(at: after, in: version) }
    var upper = version.token.number
    if let through { upper = try number(at: through, in: version) }
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
