import Annals
import AnnalsDescription
import AnnalsInspection

extension Asking {
  /// What the bytes of the file are used for.
  package func space() throws -> SpaceDocument {
    let path = file.path
    let stamp = try file.stamp()
    let words = command("stat").text
    let known = try file.space.current(of: stamp, waiting: WorkTime(patience)) { survey in
      try FileReading.with(path) { file in
        var verification = try StatisticsVerification(file, dividesHistory: true)
        let (report, statistics) = try verification.run { _ in }
        return SpaceDocument(statistics, isSound: report.isSound, command: words)
      }
    }
    var document =
      known.result
      ?? SpaceDocument(
        size: stamp.size, progress: 0, uses: [], properties: [], authors: [], months: [],
        isSound: true, command: words)
    document.progress = known.share
    return document
  }

  /// What a verification of the file finds: first of its bytes, then of its history.
  package func findings() throws -> FindingsDocument {
    let stamp = try file.stamp()
    let (path, words) = (file.path, command("verify").text)
    let salvage = command("salvage").adding("OUT").text
    let file = file
    let known = try file.findings.current(of: stamp, waiting: WorkTime(patience)) { survey in
      var document = FindingsDocument(command: words)
      let collected = CollectedFindings(salvage)
      let report = try FileReading.with(path) { file in
        var verification = try PhysicalVerification(file)
        return try verification.run { finding in
          collected.add(
            "\(finding.severity)", "\(finding.subject)", finding.offset,
            finding.what + (finding.remedy.isEmpty ? "" : ". \(finding.remedy)"))
        }
      }
      document.adopt(collected, errors: report.errors, warnings: report.warnings)
      guard report.isSound else {
        document.stage = "done"
        return document
      }
      document.stage = "history"
      survey.report(0.5, document)
      // The history is replayed beside the store that is shown.
      let store = try Store(path: file.path, options: .readOnly)
      defer { try? store.close() }
      for finding in try store.verifyHistory() {
        collected.add("\(finding.severity)", nil, finding.offset, finding.message)
        if finding.severity == .error { document.errors += 1 }
        if finding.severity == .warning { document.warnings += 1 }
      }
      document.adopt(collected, errors: document.errors, warnings: document.warnings)
      document.stage = "done"
      return document
    }
    var document = known.result ?? FindingsDocument(command: words)
    document.progress = known.share
    return document
  }
}

/// The first findings, and how many more there are.
private final class CollectedFindings {
  private(set) var entries: [FindingsDocument.Entry] = []
  private(set) var more = 0
  private let salvage: String
  private static let most = 1_000

  init(_ salvage: String) { self.salvage = salvage }

  func add(_ severity: String, _ subject: String?, _ offset: UInt64?, _ message: String) {
    guard entries.count < CollectedFindings.most else {
      more += 1
      return
    }
    entries.append(
      FindingsDocument.Entry(
        severity: severity, subject: subject, offset: offset, message: message.clipped(to: 2_000),
        remedy: severity == "error" ? salvage : nil))
  }
}

extension FindingsDocument {
  fileprivate init(command: String) {
    self.init(
      findings: [], errors: 0, warnings: 0, isSound: true, stage: "bytes", progress: 0, more: 0,
      command: command)
  }

  fileprivate mutating func adopt(_ found: CollectedFindings, errors: Int, warnings: Int) {
    (findings, more) = (found.entries, found.more)
    (self.errors, self.warnings, isSound) = (errors, warnings, errors == 0)
  }
}
