import AnnalsStorage
import AnnalsTestSupport
import Foundation
import SystemPackage
import Testing

@testable import AnnalsStorage

/// What only the operating system's files have.
@Suite(.deadline) struct PosixFileSystemTests {
  private let files = PosixFileSystem()

  @Test func aTransferGoesOnAfterShortMovesAndSignals() throws {
    var answers: [Result<Int, Errno>] = [
      .success(3), .failure(.interrupted), .success(1), .failure(.interrupted), .success(6),
    ]
    var positions: [Int] = []
    let moved = try transfer(10) { position in
      positions.append(position)
      return answers.removeFirst()
    }
    #expect(moved == 10 && answers.isEmpty)
    #expect(positions == [0, 3, 3, 4, 4])
  }

  @Test func aTransferEndsWhereNothingMoves() throws {
    var answers: [Result<Int, Errno>] = [.success(3), .success(0)]
    #expect(try transfer(10) { _ in answers.removeFirst() } == 3)
    answers = [.success(3), .failure(.ioError)]
    #expect(throws: Errno.ioError) { try transfer(10) { _ in answers.removeFirst() } }
    #expect(try transfer(0) { _ in .failure(.ioError) } == 0)
  }

  @Test func aCallIsMadeAgainAfterASignalAndAfterNothingElse() throws {
    var answers: [(Int32, Errno?)] = [(-1, .interrupted), (-1, .interrupted), (7, nil), (8, nil)]
    let call = { () -> Int32 in
      let (result, failure) = answers.removeFirst()
      if let failure { errno = failure.rawValue }
      return result
    }
    #expect(try retrying(call) == 7)
    #expect(answers.count == 1)
    answers = [(-1, .interrupted), (-1, .noSpace), (0, nil)]
    #expect(throws: Errno.noSpace) { try retrying(call) }
    #expect(answers.count == 1)
  }

  @Test func pausesGrowAndEndAtTheDeadline() {
    let start = ContinuousClock.now
    var pauses = LockPauses(from: start, until: start + .seconds(86_400))
    var last = Duration.zero
    for _ in 0..<20 {
      guard let pause = pauses.next(at: start) else { break }
      #expect(pause >= last)
      last = pause
    }
    #expect(last == .microseconds(500))
    // Who has waited for more than a turn asks more often, for a while.
    let after = { pauses.next(at: start + .milliseconds($0)) }
    #expect(after(7) == .microseconds(500))
    #expect(after(8) == .microseconds(100) && after(99) == .microseconds(100))
    #expect(after(100) == .microseconds(500))
    var ending = LockPauses(from: start, until: start + .microseconds(50))
    #expect(ending.next(at: start) == .microseconds(50))
    #expect(ending.next(at: start + .microseconds(50)) == nil)
  }

  @Test func linksAreResolvedToTheFileTheyMean() throws {
    try withTemporaryDirectory { path in
      try FileManager.default.createDirectory(atPath: path("d"), withIntermediateDirectories: false)
      try files.create(path("d/real"), like: nil).close()
      try FileManager.default.createSymbolicLink(
        atPath: path("link"), withDestinationPath: "d/real")
      try FileManager.default.createSymbolicLink(
        atPath: path("dangling"), withDestinationPath: "d/later")
      try FileManager.default.createSymbolicLink(
        atPath: path("loop"), withDestinationPath: "loop")
      #expect(try files.resolve(path("link")) == path("d/real"))
      #expect(try files.resolve(path("d/../d/real")) == path("d/real"))
      #expect(try files.resolve(path("dangling")) == path("d/later"))
      #expect(try files.resolve(path("new")) == path("new"))
      #expect(throws: StorageError.self) { try files.resolve(path("loop")) }
      #expect(throws: StorageError.self) { try files.resolve(path("none/new")) }
      #expect(throws: StorageError.self) { try files.resolve("") }
      #expect(throws: StorageError.self) { try files.resolve("a\0b") }
      #expect(try files.resolve("new").hasSuffix("/new"), "a bare name lies in this directory")
      #expect(try files.identity(of: path("link")) == files.identity(of: path("d/real")))
    }
  }

  @Test func onlyRegularFilesAreOpened() throws {
    try withTemporaryDirectory { path in
      try FileManager.default.createDirectory(atPath: path("d"), withIntermediateDirectories: false)
      #expect(throws: StorageError(.open, path("d"), .isDirectory)) {
        _ = try files.open(path("d"), for: .reading)
      }
      #expect(throws: StorageError(.open, path("d"), .isDirectory)) {
        _ = try files.open(path("d"), for: .writing)
      }
      #expect(mkfifo(path("pipe"), 0o600) == 0)
      #expect(throws: StorageError(.open, path("pipe"), .notSupported)) {
        _ = try files.open(path("pipe"), for: .reading)
      }
    }
  }

  @Test func aCopyHasTheModeOwnerAndAttributesOfTheOriginal() throws {
    try withTemporaryDirectory { path in
      try files.create(path("a"), like: nil).close()
      let mode = try FileManager.default.attributesOfItem(atPath: path("a"))[.posixPermissions]
      #expect((mode as? Int ?? 0) & 0o600 == 0o600)
      #expect(chmod(path("a"), 0o640) == 0)
      let isRoot = getuid() == 0
      if isRoot { #expect(chown(path("a"), 1234, 4321) == 0) }
      let hasAttributes = setAttribute([1, 0, 2], on: path("a"))
      try files.create(path("b"), like: path("a")).close()
      let copied = try FileManager.default.attributesOfItem(atPath: path("b"))
      #expect(copied[.posixPermissions] as? Int == 0o640)
      if isRoot {
        #expect(copied[.ownerAccountID] as? Int == 1234)
        #expect(copied[.groupOwnerAccountID] as? Int == 4321)
      }
      if hasAttributes { #expect(try attribute(of: path("b")) == [1, 0, 2]) }
      #expect(throws: StorageError(.copyAttributes, path("none"), .noSuchFileOrDirectory)) {
        _ = try files.create(path("c"), like: path("none"))
      }
      #expect(try files.identity(of: path("c")) == nil, "nothing is left behind")
    }
  }

  #if os(Linux)
    private static let attributeName = "user.annals.test".utf8CString.map { $0 }

    /// Sets an extended attribute; false where the file system has none.
    private func setAttribute(_ value: [UInt8], on path: String) -> Bool {
      guard let file = try? FileDescriptor.open(FilePath(path), .readWrite) else { return false }
      defer { try? file.close() }
      return (try? setExtendedAttribute(Self.attributeName, value, on: file)) != nil
    }

    private func attribute(of path: String) throws -> [UInt8] {
      let file = try FileDescriptor.open(FilePath(path), .readOnly)
      defer { try? file.close() }
      return try extendedAttribute(Self.attributeName, of: file)
    }
  #else
    private func setAttribute(_ value: [UInt8], on path: String) -> Bool { false }
    private func attribute(of path: String) throws -> [UInt8] { [] }
  #endif

  @Test func zerosAreWrittenWhereSpaceCannotBeReserved() throws {
    try withTemporaryDirectory { path in
      let file = try #require(try files.create(path("a"), like: nil) as? PosixFile)
      try file.write([1, 2, 3], at: 0)
      try file.withDescriptor(.allocate) { descriptor throws(Errno) in
        try file.writeZeros(to: descriptor, from: 3, to: 200_001)
      }
      #expect(try file.size() == 200_001)
      #expect(try file.bytes(at: 0, count: 4) == [1, 2, 3, 0])
    }
  }

  /// A descriptor number that was closed is given to the next file that is opened: a read that is
  /// running meanwhile must not come from there.
  @Test func readsBesideACloseNeverMeetAnotherFile() throws {
    try withTemporaryDirectory { path in
      try files.create(path("a"), like: nil).write([UInt8](repeating: 1, count: 64), at: 0)
      try files.create(path("b"), like: nil).write([UInt8](repeating: 2, count: 64), at: 0)
      for _ in 0..<200 {
        let file = try files.open(path("a"), for: .reading)
        let strangers = Locked(0)
        let readers = try (0..<2).map { try WorkerThread(name: "reader \($0)") }
        for reader in readers {
          reader.submit {
            while let bytes = try? file.bytes(at: 0, count: 64) {
              if bytes.contains(2) { strangers.withLock { $0 += 1 } }
            }
          }
        }
        file.close()
        let others = try (0..<4).map { _ in try files.open(path("b"), for: .reading) }
        for reader in readers { reader.stop() }
        for other in others { other.close() }
        #expect(strangers.withLock { $0 } == 0)
      }
    }
  }

  @Test func errorsSayWhatWasTriedAndWhatToDo() {
    #expect(
      StorageError(.write, "/d/a.annals", .noSpace).description
        == "cannot write /d/a.annals: No space left on device. "
        + "Free some space on that disk and try again.")
    #expect(
      StorageError(.open, "/d", .isDirectory).description
        == "cannot open /d: it is a directory, not a file. Name the file in it.")
    #expect(
      StorageError(.create, "/d/a", .noSuchFileOrDirectory).description
        == "cannot create /d/a: No such file or directory. Create its directory first.")
    #expect(
      StorageError(.resolve, "", .noSuchFileOrDirectory).description
        == "cannot resolve \"\": No such file or directory. The path is empty; name a file.")
    for operation in StorageError.Operation.allCases {
      let text = StorageError(operation, "/p", .ioError).description
      #expect(text.hasPrefix("cannot ") && text.contains("/p"))
    }
  }
}
