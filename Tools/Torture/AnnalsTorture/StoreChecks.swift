import Annals
import AnnalsFaults
import AnnalsInspection
import AnnalsStorage

// Checks that several trials make of a store and of the bytes of its file.

extension Store {
  /// The replayed history is that of the states.
  func requireVerified() throws {
    for finding in try verifyHistory() where finding.severity == .error {
      throw BrokenPromise("verify: \(finding.message)")
    }
  }
}

extension FaultyFileSystem {
  /// The store at a path.
  func location(_ path: String = WorkSession.path) -> StoreLocation {
    StoreLocation(fileSystem: self, path: path)
  }

  /// No acknowledged byte is damaged. A torn tail is not damage.
  func requireSoundBytes(_ path: String = WorkSession.path) throws {
    let (report, findings) = try physicalReport(path)
    guard report.isSound else { throw BrokenPromise("\(path): \(findings)") }
  }

  /// After a clean close verification finds nothing.
  func requireCleanBytes(_ path: String = WorkSession.path) throws {
    let (report, findings) = try physicalReport(path)
    guard report.isClean else { throw BrokenPromise("after the close: \(findings)") }
  }

  private func physicalReport(_ path: String) throws -> (PhysicalReport, String) {
    let file = try open(path, for: .reading)
    defer { file.close() }
    var findings: [String] = []
    var verification = try PhysicalVerification(file)
    let report = try verification.run { finding in
      if finding.severity > .note { findings.append(finding.description) }
    }
    return (report, findings.joined(separator: "; "))
  }
}
