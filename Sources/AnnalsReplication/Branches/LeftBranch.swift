import Annals
import AnnalsEngine
import AnnalsModel
import Foundation

/// What a replica does with a file whose history the shared log does not have: transactions that
/// the log had lost before others wrote to it.
public enum BranchPolicy: Hashable, Sendable {
  /// Opening throws `ReplicationError.branched`, and nothing is changed.
  case refuse
  /// The file gets another name beside the old one, and the replica goes on with the log's history.
  /// `ReplicaStatus.leftBranches` names the file.
  case keepBeside
}

/// A history that the shared log does not have, in a file of its own beside the replica's: the file
/// that the replica had until it was opened with `BranchPolicy.keepBeside`.
///
/// The file is an ordinary store: open it for reading only to see, compare or export what was lost,
/// and write what is wanted of it through the replica. A replica tells of it each time that it is
/// opened, until the file is moved away or deleted.
public struct LeftBranch: Hashable, Sendable {
  /// Where the file is.
  public var path: String
  /// The newest transaction that it has in common with the log; nil if that is not known.
  public var lastShared: Int64?
  /// The transactions that the log does not have; where `lastShared` is nil, all of the file.
  public var numbers: ClosedRange<Int64>
  /// The position that the file has.
  public var token: Token
  /// When it was left.
  public var date: Date
}

extension LeftBranch {
  /// The branch as a line of the list of branches beside the file at `path`:
  ///
  ///     what follows on the path, the last shared number or -, the first and the last one that
  ///     only the branch has, its position, microseconds since 1970; with tabs between them
  func line(beside path: String) -> String {
    let fields = [
      String(self.path.dropFirst(path.count)), lastShared.map { "\($0)" } ?? "-",
      "\(numbers.lowerBound)", "\(numbers.upperBound)", token.description,
      "\(Timestamp(date).microseconds)",
    ]
    return fields.joined(separator: "\t")
  }

  /// Reads such a line; nil if it is none.
  init?(line: some StringProtocol, beside path: String) {
    let fields = line.split(separator: "\t").map { String($0) }
    guard fields.count == 6, let first = Int64(fields[2]), let last = Int64(fields[3]),
      first <= last, let token = Token(fields[4]), let date = Int64(fields[5])
    else { return nil }
    self.init(
      path: path + fields[0], lastShared: Int64(fields[1]), numbers: first...last, token: token,
      date: Date(Timestamp(microseconds: date)))
  }
}
