/// One problem that `PhysicalVerification` found: where, what, and what to do about it.
package struct Finding: Hashable, Sendable {
  /// How bad it is.
  package enum Severity: Int, Hashable, Comparable, Sendable, CaseIterable {
    /// Worth knowing; nothing is wrong with the file.
    case note
    /// Derived or unused data is damaged, or a crash left something. Nothing acknowledged is lost.
    case warning
    /// Acknowledged data is damaged or cannot be read.
    case error

    package static func < (a: Severity, b: Severity) -> Bool { a.rawValue < b.rawValue }
  }

  /// What the finding is about, for sorting and for tests.
  package enum Subject: String, Hashable, Sendable, CaseIterable {
    case disk, header, slot, frame, padding, chain, durableMark, unwritten
    case tornTail, damageInside
    case record, number, part, name, opening, timestamp, schema
    case largeValue, chunk, checkpoint, index, gap, feature, consumer, retention, tombstone
  }

  package var severity: Severity
  package var subject: Subject
  /// The offset in the file; nil if there is none in particular.
  package var offset: UInt64?
  /// What is wrong: a sentence without a capital letter and a full stop.
  package var what: String
  /// What to do about it; empty if nothing need be done.
  package var remedy: String

  package init(
    _ severity: Severity, _ subject: Subject, at offset: UInt64?, _ what: String,
    remedy: String = ""
  ) {
    self.severity = severity
    self.subject = subject
    self.offset = offset
    self.what = what
    self.remedy = remedy
  }
}

extension Finding: CustomStringConvertible {
  /// `error at 12288: WHAT. REMEDY`.
  package var description: String {
    let place = offset.map { " at \($0)" } ?? ""
    return "\(severity)\(place): \(what)" + (remedy.isEmpty ? "" : ". \(remedy)")
  }
}

/// Remedies that several findings share.
enum Remedy {
  static let salvage =
    "Restore a backup, or salvage everything readable into a new file"
  static let compact = "Compact the file: the new one is without it"
  /// For what is wrong but readable, so that an ordinary compaction would copy it.
  static let smallest = "Compact to the smallest file, which leaves it out"
  /// For what the file uses and does not announce.
  static let announcing = "Compact the file: the new one announces the feature"
  /// For a consumer change that cannot be read.
  static let keeping =
    "All history is kept until somebody removes the consumer that the store lists in its place, or "
    + "prunes by force. Compact the file: the new one is without the damage"
  static let malformedText =
    "It reads with U+FFFD in place of what is wrong; a new value is right again"
  static let newerVersion = "Open it with a newer version of Annals"
  static let nextClose = "Nothing need be done: the next writer to close the file renews it"
  static let nextWriter = "Nothing need be done: the next writer clears it"
}

/// Passes findings on, at most a bounded number of each subject, and counts all.
struct FindingLog {
  private let report: (Finding) -> Void
  private var counts: [Finding.Subject: Int] = [:]
  /// The number of findings of each severity, those held back included.
  private(set) var severities: [Finding.Severity: Int] = [:]

  /// How many findings of one subject are passed on.
  static let maximumOfSubject = 100

  init(_ report: @escaping (Finding) -> Void) { self.report = report }

  mutating func append(_ finding: Finding) {
    severities[finding.severity, default: 0] += 1
    let count = counts[finding.subject, default: 0]
    counts[finding.subject] = count + 1
    if count < FindingLog.maximumOfSubject { report(finding) }
  }

  mutating func error(
    _ subject: Finding.Subject, at offset: UInt64?, _ what: String, remedy: String = Remedy.salvage
  ) {
    append(Finding(.error, subject, at: offset, what, remedy: remedy))
  }

  mutating func warning(
    _ subject: Finding.Subject, at offset: UInt64?, _ what: String, remedy: String
  ) {
    append(Finding(.warning, subject, at: offset, what, remedy: remedy))
  }

  mutating func note(
    _ subject: Finding.Subject, at offset: UInt64?, _ what: String, remedy: String = ""
  ) {
    append(Finding(.note, subject, at: offset, what, remedy: remedy))
  }

  /// Reports how many findings were held back.
  mutating func reportHeldBack() {
    for subject in Finding.Subject.allCases {
      let more = counts[subject, default: 0] - FindingLog.maximumOfSubject
      if more > 0 {
        report(Finding(.note, subject, at: nil, "\(more) more findings of this kind: \(subject)"))
      }
    }
  }
}
