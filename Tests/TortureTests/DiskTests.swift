import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

@testable import Annals
@testable import AnnalsTorture

/// Real file systems that are full, or may only be read.
@Suite(.serialized) struct DiskTests {
  /// Everything that can be told of the files in a folder without opening them as stores.
  private func listing(_ folder: String) throws -> [String: String] {
    var result: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let path = folder + "/" + name
      let stat = try TemporaryFolder.run("stat", "-c", "%i %s %a %Y.%y %z", path).output
      let data = try Data(contentsOf: URL(filePath: path))
      result[name] = "\(stat) \(data.hashValue)"
    }
    return result
  }

  /// A store that is closed, and one as a killed process leaves it.
  private func fill(_ folder: String) throws {
    let closed = try Store(path: folder + "/closed.annals", schema: Note.schema)
    let open = try Store(path: folder + "/open.annals", schema: Note.schema, options: .deferred)
    for store in [closed, open] {
      for index in 0..<5 { try store.write { try TortureChild.insert("note \(index)", $0) } }
      try store.checkpoint()
      try store.write { try TortureChild.insert("last", $0) }
    }
    try FileManager.default.copyItem(
      atPath: folder + "/open.annals", toPath: folder + "/killed.annals")
    try open.close()
    try closed.close()
  }

  /// Reads all there is in every way, with the library and with the command.
  private func readAll(_ folder: String, prefix: [String] = []) throws {
    for name in ["closed.annals", "killed.annals"] {
      let path = folder + "/" + name
      if prefix.isEmpty {
        let store = try Store(path: path, schema: Note.schema, options: .readOnly)
        #expect(store.token.number == 7)
        #expect(try store.snapshot().count(of: "Note") == 7)
        #expect(try store.snapshot(at: 3).count(of: "Note") == 3)
        #expect(try store.history().collect().count == 7)
        #expect(try store.verifyHistory() == [])
        try store.refresh()
        try store.close()
        for call in [{ try store.checkpoint() }, { _ = try store.compact() }] as [() throws -> Void]
        {
          #expect(throws: AnnalsError.self) { try call() }
        }
      }
      let annals = try TemporaryFolder.annals
      for words in [
        ["log", path], ["state", path, "--at", "4"], ["verify", path], ["stat", path],
        ["dump", path], ["schema", path], ["export", path],
      ] {
        let run = try TemporaryFolder.run(list: prefix + [annals] + words)
        #expect(run.status == 0, "\(words): \(run.output)")
      }
    }
  }

  @Test(.enabled(if: TemporaryFolder.canMount, "no file system can be mounted here"))
  func aReadOnlyFileSystemIsReadAndNeverChanged() throws {
    try TemporaryFolder.withFileSystem(size: "8m") { folder in
      try fill(folder)
      #expect(try TemporaryFolder.run("mount", "-o", "remount,ro", folder).status == 0)
      let before = try listing(folder)
      try readAll(folder)
      // Opening for writing says why not.
      let refused = #expect(throws: AnnalsError.self) {
        try Store(path: folder + "/closed.annals", schema: Note.schema).note()
      }
      #expect(refused?.code == .permission)
      let run = try TemporaryFolder.run(
        TemporaryFolder.annals, "put", folder + "/closed.annals", "Note/x", "text=y")
      #expect(run.status == 2 && run.output.contains("read-only"), "\(run.output)")
      #expect(throws: AnnalsError.self) {
        try Store(path: folder + "/new.annals", schema: Note.schema).close()
      }
      #expect(try listing(folder) == before)
    }
  }

  @Test(
    .enabled(
      if: TemporaryFolder.canRunAsOrdinaryUser, "the command cannot be run as an ordinary user"))
  func aFileWithoutWritePermissionIsReadAndNeverChanged() throws {
    try TemporaryFolder.with { folder in
      try fill(folder)
      let annals = try TemporaryFolder.annals
      for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
        try TemporaryFolder.run("chmod", "444", folder + "/" + name)
      }
      try TemporaryFolder.run("chmod", "555", folder)
      defer { _ = try? TemporaryFolder.run("chmod", "755", folder) }
      let prefix = TemporaryFolder.asOrdinaryUser
      let before = try listing(folder)
      try readAll(folder, prefix: prefix)
      let run = try TemporaryFolder.run(
        list: prefix + [annals, "put", folder + "/closed.annals", "Note/x", "text=y"])
      #expect(run.status == 2 && run.output.contains("ermission"), "\(run.output)")
      #expect(try listing(folder) == before)
    }
  }

  @Test(.enabled(if: TemporaryFolder.canMount, "no file system can be mounted here"))
  func aFullFileSystemRefusesAndGoesOnWhenThereIsSpaceAgain() throws {
    try TemporaryFolder.withFileSystem(size: "2m") { folder in
      let path = folder + "/a.annals"
      let ballast = folder + "/ballast"
      #expect(
        FileManager.default.createFile(atPath: ballast, contents: Data(count: 1_300_000)))
      let store = try Store(path: path, schema: Note.schema)
      var count = 0
      var refusal: AnnalsError?
      while refusal == nil, count < 1_000 {
        do {
          try store.write { try TortureChild.insert("note \(count)", $0) }
          count += 1
        } catch let error as AnnalsError { refusal = error }
      }
      #expect(refusal?.code == .noSpace)
      #expect(store.token.number == Int64(count) + 1)
      try FileHandle(forWritingTo: URL(filePath: ballast)).fillDisk()
      let large = (0...).lazy.map { "large \($0)" }.first {
        TortureChild.text(of: $0).count > 9_000
      }
      let largeKey = try #require(large)
      // Nothing that needs space works, and nothing is lost by trying.
      for call in [
        { _ = try store.compact() },
        { _ = try store.prune(store.prunePlan(before: 100)) },
        { try store.replay(to: folder + "/b.annals", at: 20) },
        { try store.write { try TortureChild.insert(largeKey, $0) } },
      ] as [() throws -> Void] {
        #expect(#expect(throws: AnnalsError.self, performing: call)?.code == .noSpace)
      }
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
          "a.annals", "ballast",
        ])
      var random = SeededNumbers(seed: 1)
      try TortureChild.check(store, &random)
      #expect(try store.verifyHistory() == [])
      #expect(try Store(path: path, options: .readOnly).token == store.token)
      // Space again: the same opening goes on.
      try FileManager.default.removeItem(atPath: ballast)
      try store.write { try TortureChild.insert(largeKey, $0) }
      try store.prune(store.prunePlan(before: 100))
      try store.compact()
      #expect(try store.snapshot().count(of: "Note") == count + 2)
      try TortureChild.check(store, &random)
      try store.close()
      let again = try Store(path: path)
      #expect(try again.verifyHistory() == [])
      try TortureChild.check(again, &random)
      try again.close()
    }
  }
}

extension Store {
  /// Inserts a note.
  fileprivate func note() throws { try write { try TortureChild.insert("refused", $0) } }
}

extension FileHandle {
  /// Writes at the end until there is no more space.
  fileprivate func fillDisk() throws {
    try seekToEnd()
    var count = 4_096
    while count > 0 {
      do {
        try write(contentsOf: Data(count: count))
      } catch {
        count /= 2
      }
    }
    try close()
  }
}
