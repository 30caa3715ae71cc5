import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// Another process commits between the beginning of a command and its own transaction.
@Suite struct OthersMeanwhileTests {
  /// It printed the number of the other one's.
  @Test func aPutThatChangesNothing() throws {
    let folder = try CommandFolder()
    folder.run("put", "@a.annals", "Post/a", "title=Fog")
    let end = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("a.annals")))
    try end.seekToEnd()
    // Opening reports it.
    try end.write(contentsOf: [UInt8](repeating: 7, count: 41))
    try end.close()
    folder.onError = {
      folder.onError = {}
      folder.run("put", "@a.annals", "Post/b", "title=Mist")
    }
    let run = folder.run("put", "@a.annals", "Post/a", "title=Fog")
    #expect(run.errors.contains("41 bytes from offset"), "\(run)")
    #expect(folder.run("get", "@a.annals", "Post/b").status == .done)
    #expect(run.status == .done && run.output == "nothing to change\n", "\(run)")
  }

  @Test func aRevertOfWhatWasRemovedSinceIsRefused() throws {
    let folder = try CommandFolder()
    folder.run("put", "@a.annals", "Post/a", "title=Fog")
    folder.run("put", "@a.annals", "Post/a", "title=Mist")
    let store = try Store(path: folder.file("a.annals"), environment: folder.store)
    try store.write {
      try $0.require(Schema(), edits: [.removeProperty(entity: "Post", "title")])
    }
    try store.close()
    folder.run("put", "@a.annals", "Post/b", "stars:=1")
    let run = folder.run("revert", "@a.annals", "2", "--yes")
    #expect(
      run.errors
        == "annals: transaction 2 cannot be reverted, later transactions touched what it did: "
        + "Post/a.title, changed by transaction 3.\n")
    #expect(run.status == .couldNotRun && run.output == "")
    #expect(
      folder.run("log", "@a.annals", "2..3").output.hasSuffix(
        """
            schema of Post
                - title
            ~ Post/a  title: "Mist" → none

        """), "\(folder.run("log", "@a.annals", "2..3"))")
    let recorded = folder.run("revert", "@a.annals", "4", "--yes")
    #expect(recorded.output.hasSuffix("\ntransaction 5\n"), "\(recorded)")
  }
}
