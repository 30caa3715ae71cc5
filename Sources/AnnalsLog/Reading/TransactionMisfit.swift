import AnnalsFormat
import AnnalsFrames
import AnnalsModel

/// A readable transaction that cannot be applied: it changes something that the state before it
/// does not have. Its checksums are right, so it was written so.
///
/// An error of whoever applies transactions; the log adds the frame's offset.
package struct TransactionMisfit: Error, Hashable {
  /// The transaction's number.
  package var number: Int64
  /// Which part of the transaction; 0 for the first or only one.
  package var part: UInt32
  /// What it would change, and why it cannot.
  package var reason: String
  /// The offset of the frame that holds the transaction, or this part of it; nil while that is not
  /// known.
  package var offset: UInt64?

  package init(number: Int64, part: UInt32 = 0, reason: String, offset: UInt64? = nil) {
    self.number = number
    self.part = part
    self.reason = reason
    self.offset = offset
  }
}

extension TransactionMisfit: CustomStringConvertible {
  package var description: String {
    "transaction \(number) does not fit the state before it (\(reason))"
  }
}

extension FrameWalk {
  /// The offset of the frame that holds this transaction, or this part of it; nil if the walk does
  /// not reach it. O(length of the walk).
  func offset(of number: Int64, part: UInt32) throws(LogError) -> UInt64? {
    var walk = self
    while case .frame(let frame) = try walk.step() {
      guard frame.header.kind.holdsTransactions, try walk.isWhole(frame) else { continue }
      guard frame.header.kind == .block else {
        if walk.number(of: frame) == number { return frame.offset }
        continue
      }
      guard let summary = walk.summary(of: frame), summary.firstNumber <= number else { continue }
      let isIt =
        summary.isPart
        ? summary.firstNumber == number && summary.part == part : summary.lastNumber >= number
      if isIt { return frame.offset }
    }
    return nil
  }
}

extension LogView {
  /// The error; a misfit gets the offset of its frame, if that can be found.
  package func locating(_ error: any Error) -> any Error {
    guard var misfit = error as? TransactionMisfit, misfit.offset == nil else { return error }
    misfit.offset = try? offset(of: misfit.number, part: misfit.part)
    return misfit
  }

  private func offset(of number: Int64, part: UInt32) throws(LogError) -> UInt64? {
    let entry = try index.entry(at: segment(of: number), in: file)
    let walk = FrameWalk(
      file, from: ChainPoint(offset: entry.offset, previousChecksum: nil), limit: end)
    return try walk.offset(of: number, part: part)
  }
}

extension LogError {
  /// The misfit that the caller met; nil for other errors.
  var misfit: TransactionMisfit? {
    if case .interrupted(let error) = self { error as? TransactionMisfit } else { nil }
  }
}
