#if os(Linux)
  import Annals
  import AnnalsTestSupport
  import Foundation
  import Testing

  /// Who owns a file after it was written anew; and paths that are no text.
  @Suite struct OwnerTests {
    private struct Owner: Equatable {
      var user: uid_t
      var group: gid_t
      var mode: mode_t
      var inode: UInt64

      init(_ path: String) {
        var status = stat()
        stat(path, &status)
        (user, group, mode) = (status.st_uid, status.st_gid, status.st_mode & 0o7777)
        inode = UInt64(status.st_ino)
      }
    }

    /// A store of another user, in a directory where everybody may do everything.
    private func shared(_ folder: TemporaryFolder) throws -> String {
      let path = folder.path("a.annals")
      let store = try noteStore(.file(path))
      for number in 1...40 { try store.note("\(number)", text: "some text") }
      try store.close()
      chown(path, 12_345, 12_346)
      chmod(path, 0o666)
      chmod(folder.path(""), 0o777)
      return path
    }

    private func rewrite(_ store: Store, prunes: Bool) throws {
      if prunes {
        try store.prune(store.prunePlan(before: 20))
      } else {
        #expect(try store.compact().isRewritten)
      }
    }

    @Test(.enabled(if: geteuid() == 0), arguments: [false, true])
    func theOwnerStays(prunes: Bool) throws {
      let folder = try TemporaryFolder()
      let path = try shared(folder)
      let before = Owner(path)
      let store = try Store(path: path)
      try rewrite(store, prunes: prunes)
      try store.close()
      let after = Owner(path)
      #expect(after.inode != before.inode)
      #expect((after.user, after.group, after.mode) == (12_345, 12_346, 0o666))
    }

    /// Who may write to a file, but not give another to its owner, cannot write it anew.
    @Test(.enabled(if: geteuid() == 0), arguments: [false, true])
    func whoCannotKeepTheOwnerIsRefused(prunes: Bool) throws {
      let folder = try TemporaryFolder()
      let path = try shared(folder)
      let before = Owner(path)
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      try asUser(54_321) {
        var options = StoreOptions()
        options.lockMode = .shared
        let store = try Store(path: path, options: options)
        let error = #expect(throws: AnnalsError.self) { try rewrite(store, prunes: prunes) }
        #expect(error?.code == .permission, "\(String(describing: error))")
        #expect(error?.message.contains("belongs to another user") == true)
        try store.close()
      }
      #expect(Owner(path) == before)
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.path("")) == ["a.annals"])
    }

    /// A backup belongs to whoever makes it, who may be one that can only read the store.
    @Test(.enabled(if: geteuid() == 0)) func aReaderMakesABackupOfItsOwn() throws {
      let folder = try TemporaryFolder()
      let path = try shared(folder)
      chmod(path, 0o644)
      let copy = folder.path("copy.annals")
      try asUser(54_321) {
        let store = try Store(path: path, options: .readOnly)
        try store.backup(to: copy)
        try store.close()
      }
      let owner = Owner(copy)
      #expect((owner.user, owner.mode) == (54_321, 0o644))
      let store = try Store(path: copy, options: .readOnly)
      #expect(store.token.number == 41)
      try store.close()
    }

    /// Runs `body` with the rights that a user has of files: on this thread alone.
    private func asUser(_ user: uid_t, _ body: () throws -> Void) throws {
      typealias Call = @convention(c) (uid_t) -> CInt
      let symbol = try #require(dlsym(nil, "setfsuid"))
      let setUser = unsafeBitCast(symbol, to: Call.self)
      _ = setUser(user)
      defer { _ = setUser(0) }
      try body()
    }

    /// A path that leads over a link to a name that is no text, is not rewritten to another.
    @Test func aPathThatIsNoText() throws {
      let folder = try TemporaryFolder()
      let name = folder.path("caf").utf8CString.dropLast() + [CChar(bitPattern: 0xE9), 0]
      let link = folder.path("link")
      try Array(name).withUnsafeBufferPointer {
        let start = try #require($0.baseAddress)
        #expect(mkdir(start, 0o777) == 0)
        #expect(symlink(start, link) == 0)
      }
      let error = #expect(throws: AnnalsError.self) {
        try noteStore(.file(link + "/a.annals"))
      }
      #expect(error?.message.contains("not UTF-8") == true, "\(String(describing: error))")
      let directory = try #require(opendir(link))
      var names: [String] = []
      while let entry = readdir(directory) {
        names.append(
          withUnsafeBytes(of: entry.pointee.d_name) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
          })
      }
      closedir(directory)
      #expect(names.sorted() == [".", ".."])
    }
  }
#endif
