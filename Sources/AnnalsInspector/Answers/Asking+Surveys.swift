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
      try StoreFile.with(path: path, locking: false) { found in
        var verification = try StatisticsVerification(found.file, dividesHistory: true)
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
    let (path, shownPath) = (file.path, file.shownPath)
    let known = try file.findings.current(of: stamp, waiting: WorkTime(patience)) { survey in
      let collected = CollectedFindings(shownPath)
      var verifying = Verifying(path, named: shownPath)
      try StoreFile.with(path: path, locking: false) {
        try verifying.checkBytes(of: $0.file, collected.add)
      }
      guard verifying.document.isSound else { return collected.document(verifying) }
      survey.report(0.5, collected.document(verifying))
      // The history is replayed beside the store that is shown.
      try verifying.compareHistory(collected.add)
      return collected.document(verifying)
    }
    var document = known.result ?? Verifying(path, named: shownPath).document
    document.progress = known.share
    return document
  }
}

/// The first findings, and how many more there are.
private final class CollectedFindings {
  private var entries: [FindingsDocument.Entry] = []
  private var more = 0
  private let path: String
  private static let most = 1_000

  init(_ path: String) { self.path = path }

  func add(_ entry: FindingsDocument.Entry) {
    guard entries.count < CollectedFindings.most else {
      more += 1
      return
    }
    var entry = entry
    entry.message = entry.message.clipped(to: 2_000)
    // What is no store cannot be salvaged.
    if entry.severity == "error", entry.remedy == nil,
      !entry.message.contains(FindingAdvice.otherKind)
    {
      entry.remedy = FindingAdvice.salvage(path)
    }
    entries.append(entry)
  }

  func document(_ verifying: Verifying) -> FindingsDocument {
    var document = verifying.document
    (document.findings, document.more) = (entries, more)
    return document
  }
}
