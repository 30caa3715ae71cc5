import Annals
import AnnalsEngine
import AnnalsInspection
import AnnalsStorage

/// A verification of a file, finding by finding: first of its bytes, then of its history.
///
/// What it finds is passed on and not kept; `document` counts it.
package struct Verifying {
  /// What was found so far, without the findings themselves.
  package private(set) var document: FindingsDocument
  private let path: String
  /// The path in commands.
  private let shownPath: String
  /// Whether the bytes had neither errors nor warnings.
  private var isClean = false
  private var transactions: Int64 = 0

  package init(_ path: String, named shownPath: String? = nil) {
    self.path = path
    self.shownPath = shownPath ?? path
    document = FindingsDocument(
      findings: [], errors: 0, warnings: 0, isSound: true, stage: "bytes", progress: 0, more: 0,
      command: CommandWords("verify", self.shownPath).text)
  }

  /// Checks every byte of the file. Reads it twice, in the memory of one frame.
  ///
  /// - Throws: `StorageError` if it cannot be read, and what `report` throws, once all is checked.
  package mutating func checkBytes(
    of file: any StorageFile, _ report: @escaping (FindingsDocument.Entry) throws -> Void
  ) throws {
    var verification = try PhysicalVerification(file)
    var failure: (any Error)?
    let (path, shownPath) = (path, shownPath)
    let found = try verification.run { finding in
      guard failure == nil else { return }
      do {
        try report(FindingsDocument.Entry(finding, of: path, named: shownPath))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    (document.errors, document.warnings) = (found.errors, found.warnings)
    (document.isSound, document.size) = (found.isSound, found.fileSize)
    (isClean, transactions) = (found.isClean, found.transactions)
    document.stage = found.isSound ? "history" : "done"
  }

  /// Replays the history of a file whose bytes are sound, and compares it with what the store
  /// holds. Costs the whole history, and the memory of two states.
  ///
  /// - Throws: `AnnalsError` if the store cannot be opened, unless it is damaged, which is a
  ///   finding; and what `report` throws.
  package mutating func compareHistory(
    in environment: StoreEnvironment = .system,
    _ report: (FindingsDocument.Entry) throws -> Void
  ) throws {
    do {
      // The findings of opening were reported with the bytes.
      let store = try Store(path: path, options: .readOnly, environment: environment)
      defer { try? store.close() }
      let findings = try store.verifyHistory()
      let isErased = !findings.contains { $0.severity == .warning }
      let unfinished = try isErased ? [] : store.version.unfinishedErasures()
      for finding in findings {
        var entry = FindingsDocument.Entry(
          "\(finding.severity)", at: finding.offset, finding.message, of: shownPath)
        if let erasure = unfinished.first(where: { $0.message == finding.message }) {
          let shown = SummaryDocument.Unfinished(erasure, in: store.schema, at: shownPath)
          entry.remedy = shown.commands.joined(separator: "; ")
        }
        if finding.severity == .error { document.errors += 1 }
        if finding.severity == .warning { document.warnings += 1 }
        try report(entry)
      }
    } catch let error as AnnalsError where error.code == .damaged || error.code == .missingData {
      if isClean {
        document.errors += 1
        try report(FindingsDocument.Entry("error", at: error.offset, "\(error)", of: shownPath))
      } else {
        // Damage that was reported with the bytes may end it early.
        try report(
          FindingsDocument.Entry(
            severity: "note", message: "the history was not compared: \(error)"))
      }
    }
    document.isSound = document.errors == 0
    document.transactions = transactions
    document.stage = "done"
  }

  /// Compares the history with that of another file of the store, as far as both have it. Reads the
  /// history of both. Returns the last number at which they were compared; nil if there is none.
  ///
  /// - Throws: `RequestFault` if the other one cannot be opened or read, and what `report` throws.
  package mutating func compare(
    with other: String, in environment: StoreEnvironment = .system,
    _ report: (FindingsDocument.Entry) throws -> Void
  ) throws -> Int64? {
    let store = try Store(path: path, options: .looking, environment: environment)
    defer { try? store.close() }
    let comparison: HistoryComparison
    do {
      let second = try Store(path: other, options: .looking, environment: environment)
      defer { try? second.close() }
      comparison = try HistoryComparison(
        store.version, second.version, named: (shownPath, other))
    } catch {
      // The bytes of the file itself are in order.
      throw RequestFault("\(other) cannot be compared with: \(error)")
    }
    for finding in comparison.findings {
      if finding.severity == .error { document.errors += 1 }
      if finding.severity == .warning { document.warnings += 1 }
      try report(
        FindingsDocument.Entry(severity: "\(finding.severity)", message: finding.message))
    }
    return comparison.numbers?.upperBound
  }
}

extension FindingsDocument.Entry {
  /// A finding about the bytes.
  fileprivate init(_ finding: Finding, of path: String, named shownPath: String) {
    var remedy = finding.remedy
    var command: String?
    if remedy.contains(FindingAdvice.otherKind), FindingAdvice.hasRootSlot(path) {
      remedy = "The rest is a store: they were damaged"
      command = FindingAdvice.salvage(shownPath)
    }
    let message = finding.what + (remedy.isEmpty ? "" : ". \(remedy)")
    self.init(
      severity: "\(finding.severity)", subject: "\(finding.subject)", offset: finding.offset,
      message: message, remedy: command ?? FindingAdvice.command(for: message, of: shownPath))
  }

  /// A finding about the history.
  fileprivate init(_ severity: String, at offset: UInt64?, _ message: String, of path: String) {
    self.init(
      severity: severity, offset: offset, message: message,
      remedy: FindingAdvice.command(for: message, of: path))
  }
}
