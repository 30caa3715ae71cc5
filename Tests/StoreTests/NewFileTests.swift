#if os(Linux)
  import Annals
  import AnnalsExchange
  import AnnalsSalvage
  import AnnalsTestSupport
  import Foundation
  import Testing

  /// The files that are made of a store: who may read them, and what they never replace.
  @Suite struct NewFileTests {
    /// What makes a file of the store at a path.
    private static let makers: [@Sendable (String, String) throws -> Void] = [
      { try Store(path: $0).backup(to: $1) },
      { try Store(path: $0).replay(to: $1, at: 3) },
      { try Store(path: $0).replay(to: $1, at: 3, flatten: true) },
      { _ = try Store.salvage($0, to: $1) },
      { try Store(path: $0).export(to: $1) },
    ]

    private func store(_ folder: TemporaryFolder) throws -> String {
      let path = folder.path("a.annals")
      let store = try noteStore(.file(path))
      for number in 1...5 { try store.note("\(number)", text: "private") }
      try store.close()
      return path
    }

    /// A copy of a private store was readable by everybody.
    @Test(arguments: makers.indices, [0o600, 0o640, 0o664] as [mode_t])
    func itHasTheModeOfTheStore(maker: Int, mode: mode_t) throws {
      let folder = try TemporaryFolder()
      let path = try store(folder)
      chmod(path, mode)
      let made = folder.path("made")
      try NewFileTests.makers[maker](path, made)
      var status = stat()
      #expect(stat(made, &status) == 0 && status.st_mode & 0o7777 == mode)
    }

    /// It was written where the link led.
    @Test(arguments: makers.indices) func nothingGoesThroughALinkThatLeadsNowhere(maker: Int) throws
    {
      let folder = try TemporaryFolder()
      let path = try store(folder)
      let (link, nowhere) = (folder.path("link"), folder.path("nowhere"))
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: nowhere)
      let error = #expect(throws: AnnalsError.self) { try NewFileTests.makers[maker](path, link) }
      #expect(error?.code == .alreadyExists)
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == nowhere)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(""))
      #expect(names.sorted() == ["a.annals", "link"])
    }
  }
#endif
