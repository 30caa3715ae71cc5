import Annals
import AnnalsFaults
import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import SystemPackage
import Testing

@testable import AnnalsCommand

/// A torn tail, damage inside, a newer version, a foreign file and an unreadable file are five
/// answers, each with what to do; and none of them but the first lets anybody write. An empty file
/// is refused for reading, and becomes a store where one is to be made.
@Suite struct AnswerTests {
  /// What may be wrong with a file.
  enum Wrong: CaseIterable {
    case tornTail, damageInside, cut, damagedHeader, newerVersion, newerFrame, foreign, empty

    /// A file that this is wrong with.
    func file() throws -> ContiguousArray<UInt8> {
      var bytes = try SampleFile.open.make()
      let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
      switch self {
      case .tornTail: for index in end - 40..<end - 20 { bytes[index] = 0 }
      case .damageInside:
        bytes = try SampleFile.smallest.make()
        bytes[bytes.count - 40] ^= 4
      case .cut:
        bytes = try SampleFile.closed.make()
        bytes.removeLast(100)
      case .damagedHeader: bytes[50] ^= 1
      case .newerVersion: bytes[8] = 7
      case .newerFrame: try appendNewerFrame(&bytes)
      case .foreign: bytes = ContiguousArray("SQLite format 3\0 and so on, for long enough".utf8)
      case .empty: bytes = []
      }
      return bytes
    }

    /// A frame behind the end, as a later version may write it.
    private func appendNewerFrame(_ bytes: inout ContiguousArray<UInt8>) throws {
      var writer = try bytes.writerBehindFrames()
      writer.append(FrameKind(rawValue: 77), [])
      bytes.replaceSubrange(Int(writer.start)..<Int(writer.offset), with: writer.bytes)
    }

    /// The code of the error; nil if the file opens.
    var code: AnnalsError.Code? {
      switch self {
      case .tornTail: nil
      case .damageInside, .cut, .damagedHeader: .damaged
      case .newerVersion, .newerFrame: .newerVersion
      case .foreign, .empty: .notAnAnnalsFile
      }
    }

    /// Words of the message that say what to do.
    var remedy: String {
      switch self {
      case .tornTail: ""
      case .damageInside, .cut, .damagedHeader: "salvage"
      case .newerVersion, .newerFrame: "se a newer "
      case .foreign, .empty: "heck the path"
      }
    }
  }

  @Test(arguments: Wrong.allCases)
  func theLibraryAnswers(wrong: Wrong) throws {
    let bytes = try wrong.file()
    for options in [StoreOptions.readOnly, StoreOptions()] {
      let files = MemoryFileSystem()
      let location = try sampleFile(bytes, in: files)
      let open: () throws -> Store = {
        try Store(location, schema: SampleFile.schema, options: options)
      }
      guard let code = wrong.code else {
        let store = try open()
        #expect(store.token.number == 10)
        continue
      }
      if wrong == .empty, !options.isReadOnly {
        // Where a store is to be made, an empty file is none yet.
        #expect(try open().token.number == 1)
        continue
      }
      let error = #expect(throws: AnnalsError.self) { _ = try open() }
      #expect(error?.code == code, "\(wrong)")
      #expect(error?.message.contains(wrong.remedy) == true, "\(wrong): \(error?.message ?? "")")
      #expect(try files.contents(of: SampleFile.path) == bytes, "\(wrong) was written to")
      #expect(files.paths == [SampleFile.path], "\(wrong) left something behind")
    }
  }

  @Test(arguments: Wrong.allCases)
  func theCommandAnswers(wrong: Wrong) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let bytes = try wrong.file()
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let read = runCommand("state", path)
    let verified = runCommand("verify", path)
    #expect(verified.status == .foundProblems)
    #expect(try ContiguousArray(Data(contentsOf: URL(fileURLWithPath: path))) == bytes)
    let written = runCommand("put", path, "Note/n2", "text=changed")
    guard wrong.code != nil else {
      #expect(read.status == .done && read.errors.contains("are passed over"), "\(read)")
      #expect(verified.output.contains("warning") && !verified.output.contains("error at"))
      #expect(written.status == .done)
      #expect(runCommand("verify", path).status == .done)
      return
    }
    let isMade = wrong == .empty
    for answer in isMade ? [read] : [read, written] {
      #expect(answer.status == .couldNotRun && answer.output == "", "\(wrong)")
      #expect(
        answer.errors.hasPrefix("annals: ") && answer.errors.contains(wrong.remedy), "\(answer)")
    }
    #expect(try folder.names() == ["a.annals"])
    if isMade {
      #expect(written.status == .done, "\(written)")
      #expect(runCommand("verify", path).status == .done)
      return
    }
    #expect(try ContiguousArray(Data(contentsOf: URL(fileURLWithPath: path))) == bytes)
  }

  /// A disk that cannot read, and a file that the system does not give out.
  @Test(arguments: [Errno.ioError, .permissionDenied])
  func anUnreadableFile(errno: Errno) throws {
    let disk = FaultyFileSystem()
    let location = StoreLocation(fileSystem: disk, path: SampleFile.path)
    let store = try Store(location, schema: SampleFile.schema)
    try store.close()
    let bytes = try disk.contents(of: SampleFile.path)
    let operation: StorageError.Operation = errno == .ioError ? .read : .open
    for options in [StoreOptions.readOnly, StoreOptions()] {
      disk.inject(FaultInjection(operation, errno, count: 1))
      let error = #expect(throws: AnnalsError.self) {
        try Store(location, schema: SampleFile.schema, options: options)
      }
      #expect(error?.code == (errno == .ioError ? .io : .permission))
      #expect(error?.underlying == errno)
      let remedy = errno == .ioError ? "salvage" : "permission"
      #expect(error?.message.contains(remedy) == true, "\(error?.message ?? "")")
      #expect(try disk.contents(of: SampleFile.path) == bytes)
    }
  }

  #if os(Linux)
    /// A file that the command may open, but not read, whoever runs it.
    @Test func theCommandCannotReadAFile() throws {
      for command in ["state", "verify"] {
        let unreadable = runCommand(command, "/proc/self/mem")
        #expect(unreadable.status == .couldNotRun || unreadable.status == .foundProblems)
        #expect(!(unreadable.errors + unreadable.output).contains("not an Annals store"))
      }
      let read = runCommand("state", "/proc/self/mem")
      #expect(read.status == .couldNotRun)
      #expect(read.errors.contains("Input/output error"), "\(read.errors)")
    }
  #endif
}
