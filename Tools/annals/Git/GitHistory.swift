import Annals
import Foundation

/// One commit of a branch's first-parent history.
struct GitCommit: Hashable {
  var id: String
  var parents: [String]
  var author: String
  /// When it was written and committed; nil for a time that git cannot tell, or that no
  /// transaction can have.
  var authoredAt: Timestamp?
  var committedAt: Timestamp?
  var message: String
}

/// A change of one path in a commit, compared with its first parent.
struct GitChange: Hashable {
  /// The kind of change.
  enum Kind: Hashable { case added, deleted, modified }
  var kind: Kind
  var path: Data
  /// The mode and the id of the blob after the change.
  var mode: String
  var blob: String
  /// The size of the file; nil for a submodule, and for an object that the repository lacks.
  var size: Int64?
}

/// Reads the first-parent history of a branch, oldest first: each commit, then its changes one by
/// one. Memory does not grow with the history or with the size of a commit.
final class GitHistory {
  private let process: GitProcess
  private var fields: GitFields
  private let sizes: GitObjectSizes
  /// The number of objects that the repository lacks.
  var missingObjects: Int { sizes.missing }
  /// A field that was read ahead.
  private var pushedBack: Data?
  private var ready: [GitChange] = []
  private var readyIndex = 0

  /// The history of `tip`, without the commits up to `known`.
  init(repository: String, tip: String, after known: String?, environment: [String: String]) throws
  {
    let range = known.map { ["^\($0)"] } ?? []
    process = try GitProcess(
      [
        "-c", "log.showRoot=true", "log", "-z", "--first-parent", "--reverse", "--raw",
        "--no-abbrev",
        "--no-renames", "--diff-merges=first-parent", "--ignore-submodules=none", "--no-relative",
        "-O/dev/null", "--encoding=UTF-8", "--no-show-signature", "--no-color", "--no-decorate",
        "--no-notes", "--format=tformat:%H%x00%P%x00%an%x00%at%x00%ct%x00%B", tip,
      ] + range + ["--"], repository: repository, environment: environment)
    fields = GitFields(process, endingIn: 0)
    sizes = try GitObjectSizes(repository: repository, environment: environment)
  }

  /// The next commit; nil after the last. Read all changes of the previous one first.
  func nextCommit() throws -> GitCommit? {
    guard let id = try nextField() else {
      try process.waitForExit()
      return nil
    }
    var parts: [String] = []
    for _ in 0..<5 {
      guard let field = try fields.next() else { throw cutOff }
      parts.append(String(decoding: field, as: UTF8.self))
    }
    while parts[4].utf8.last == 0x0A { parts[4].unicodeScalars.removeLast() }
    return GitCommit(
      id: String(decoding: id, as: UTF8.self),
      parents: parts[0].split(separator: " ").map(String.init), author: parts[1],
      authoredAt: GitHistory.time(parts[2]), committedAt: GitHistory.time(parts[3]),
      message: parts[4])
  }

  /// The moment of a commit, which git gives in seconds since 1970; nil if it gives none, as for a
  /// commit object that is not what git writes, or one that no transaction can have.
  static func time(_ text: String) -> Timestamp? {
    guard let seconds = Int64(text) else { return nil }
    let (microseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let moment = Timestamp(microseconds: microseconds)
    return !overflow && Timestamp.transactionRange.contains(moment) ? moment : nil
  }

  /// The next change of the commit; nil after its last.
  func nextChange() throws -> GitChange? {
    if readyIndex == ready.count {
      ready.removeAll(keepingCapacity: true)
      readyIndex = 0
      while ready.count < 256, let change = try readChange() { ready.append(change) }
      try sizes.fill(&ready)
    }
    guard readyIndex < ready.count else { return nil }
    defer { readyIndex += 1 }
    return ready[readyIndex]
  }

  private func nextField() throws -> Data? {
    defer { pushedBack = nil }
    return try pushedBack ?? fields.next()
  }

  /// Reads `:OLDMODE NEWMODE OLD NEW STATUS` and the path.
  private func readChange() throws -> GitChange? {
    guard var field = try nextField() else { return nil }
    // Git writes an empty line between the message and the changes.
    if field.first == 0x0A { field = field.dropFirst() }
    guard field.first == UInt8(ascii: ":") else {
      pushedBack = field
      return nil
    }
    let parts = String(decoding: field.dropFirst(), as: UTF8.self).split(separator: " ")
    guard parts.count == 5, let path = try fields.next() else { throw cutOff }
    let kind: GitChange.Kind
    switch parts[4].first {
    case "A": kind = .added
    case "D": kind = .deleted
    case "M", "T": kind = .modified
    default: throw CommandFailure("git gave the unknown status `\(parts[4])`")
    }
    return GitChange(
      kind: kind, path: path, mode: String(parts[1]), blob: String(parts[3]), size: nil)
  }

  private var cutOff: CommandFailure { CommandFailure("git's output is cut off") }
}

/// Gets the sizes of objects from git.
final class GitObjectSizes {
  private let process: GitProcess
  private var answers: GitFields
  /// The number of objects that the repository lacks.
  private(set) var missing = 0

  init(repository: String, environment: [String: String]) throws {
    process = try GitProcess(
      ["cat-file", "--batch-check=%(objectsize)"], repository: repository, environment: environment,
      hasInput: true)
    answers = GitFields(process, endingIn: 0x0A)
  }

  /// Sets the sizes of the files among at most 256 changes. A request for so many fits in a pipe's
  /// buffer, so that the two processes never wait for each other.
  func fill(_ changes: inout [GitChange]) throws {
    let wanted = changes.indices.filter {
      changes[$0].kind != .deleted && changes[$0].mode != "160000"
    }
    if wanted.isEmpty { return }
    var question = Data()
    for index in wanted {
      question.append(contentsOf: changes[index].blob.utf8)
      question.append(0x0A)
    }
    try process.write(question)
    for index in wanted {
      guard let answer = try answers.next() else {
        try process.waitForExit()
        throw CommandFailure("git cat-file ended too early")
      }
      changes[index].size = Int64(String(decoding: answer, as: UTF8.self))
      if changes[index].size == nil { missing += 1 }
    }
  }
}
