import AnnalsDescription
import AnnalsInspection
import AnnalsTestSupport
import Foundation
import Testing

/// The files in Fixtures, each with its dump beside it.
@Suite struct FixtureTests {
  private static let folder = packageFolder.appending(path: "Fixtures/version-1")

  private static var files: [URL] {
    let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (all?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "annals" }
      .sorted { $0.path < $1.path }
  }

  /// ANNALS_RECORD writes the dumps anew.
  @Test func dumps() throws {
    #expect(!FixtureTests.files.isEmpty)
    for file in FixtureTests.files {
      let bytes = ContiguousArray(try Data(contentsOf: file))
      var options = DumpOptions()
      // Every byte is explained where there are few, once for a good file and those made of it.
      options.bytes = bytes.count <= 13_100 && !file.isVariant
      var text = ""
      var dump = try FileDump(bytes.opened(), options: options)
      _ = try dump.run {
        text += $0
        return true
      }
      let kept = file.deletingPathExtension().appendingPathExtension("dump.txt")
      #expect(try golden(kept, recording: text) == text, "\(kept.path)")
    }
  }

  @Test func theWorkedExampleIsSound() throws {
    let file = FixtureTests.folder.appending(path: "worked-example.annals")
    let bytes = ContiguousArray(try Data(contentsOf: file))
    #expect(try findings(in: bytes) == [])
    let report = try report(on: bytes)
    #expect(report.transactions == 5)
  }
}

extension URL {
  /// Whether the file is another fixture with something changed.
  fileprivate var isVariant: Bool {
    lastPathComponent.hasPrefix("damaged-")
      || lastPathComponent.hasPrefix("newer-") && !lastPathComponent.contains("extensions")
  }
}
