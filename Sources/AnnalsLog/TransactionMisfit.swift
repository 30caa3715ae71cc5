import AnnalsFormat
import AnnalsModel

/// A transaction that can be read, and cannot be taken in: it changes what the state before it does
/// not have. Its checksums fit, so somebody wrote it so.
///
/// The closures that transactions are handed to throw it; the log says where the frame is.
package struct TransactionMisfit: Error, Hashable {
  /// The transaction's number.
  package var number: Int64
  /// What it would change, and why it cannot.
  package var reason: String
  /// Where the frame is that holds, or begins, the transaction; nil where that is not known yet.
  package var offset: UInt64?

  package init(number: Int64, reason: String, offset: UInt64? = nil) {
    self.number = number
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
  /// Where the frame is that holds the transaction of this number, or its first part; nil if the
  /// walk does not come to it. O(length of the walk).
  func offset(of number: Int64) throws(LogError) -> UInt64? {
    var walk = self
    while case .frame(let frame) = try walk.next() {
      guard frame.header.kind == .transaction || frame.header.kind == .block,
        try walk.payloadIsValid(frame)
      else { continue }
      guard frame.header.kind == .block else {
        if walk.number(of: frame) == number { return frame.offset }
        continue
      }
      guard let summary = walk.summary(of: frame), summary.firstNumber <= number else { continue }
      if summary.isPart ? summary.firstNumber == number : summary.lastNumber >= number {
        return frame.offset
      }
    }
    return nil
  }
}

extension LogView {
  /// An error as it is; a misfit with the place of its frame, where that can be found.
  package func locating(_ error: any Error) -> any Error {
    guard var misfit = error as? TransactionMisfit, misfit.offset == nil else { return error }
    misfit.offset = try? offset(of: misfit.number)
    return misfit
  }

  private func offset(of number: Int64) throws(LogError) -> UInt64? {
    let entry = try index.entry(at: segment(of: number), in: file)
    let walk = FrameWalk(
      file, from: ChainPoint(offset: entry.offset, previousChecksum: nil), limit: end)
    return try walk.offset(of: number)
  }
}

extension LogError {
  /// The transaction that a closure of the caller's could not take in, if that is what ended the
  /// call.
  var misfit: TransactionMisfit? {
    if case .interrupted(let error) = self { error as? TransactionMisfit } else { nil }
  }
}
