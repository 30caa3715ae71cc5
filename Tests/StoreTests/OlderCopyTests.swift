import Annals
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// Somebody copies a backup over the file of a store that is open: the next write says so, and
/// leaves the file as it is.
@Suite struct OlderCopyTests {
  enum Kind: CaseIterable { case memory, disk }
  enum Mode: CaseIterable { case full, deferred, exclusive, exclusiveDeferred }

  /// A file, and the folder that it is in, if any.
  private struct Place {
    var location: StoreLocation
    var folder: TemporaryFolder?

    init(_ kind: Kind) throws {
      switch kind {
      case .memory: location = memoryFile()
      case .disk:
        let made = try TemporaryFolder()
        folder = made
        location = .file(made.path("a.annals"))
      }
    }

    func bytes() throws -> ContiguousArray<UInt8> {
      try location.fileSystem.contents(of: location.path)
    }

    /// Writes over the file as `cp` does.
    func copyOver(_ bytes: ContiguousArray<UInt8>) throws {
      let file = try location.fileSystem.open(location.path, for: .writing)
      defer { file.close() }
      try file.truncate(to: 0)
      try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }
  }

  private func options(_ mode: Mode) -> StoreOptions {
    var options = StoreOptions()
    if mode == .deferred || mode == .exclusiveDeferred { options.durability = .deferred }
    if mode == .exclusive || mode == .exclusiveDeferred { options.lockMode = .exclusive }
    return options
  }

  private func expectNoticed(_ body: () throws -> Void) {
    let error = #expect(throws: AnnalsError.self) { try body() }
    #expect(error?.code == .lostBranch, "\(String(describing: error))")
    #expect(error?.message.contains("an older copy was written over") == true)
  }

  @Test(arguments: Kind.allCases, Mode.allCases)
  func theNextWriteSaysSo(kind: Kind, mode: Mode) throws {
    let place = try Place(kind)
    let store = try noteStore(place.location, options: options(mode))
    store.writer.lookInterval = .zero
    try store.note("a")
    try store.sync()
    let older = try place.bytes()
    try store.note("b")
    try store.note("c")
    try place.copyOver(older)
    for _ in 1...2 {
      expectNoticed { try store.note("d") }
      #expect(try place.bytes() == older)
    }
    if mode == .full { expectNoticed { try store.refresh() } }
    expectNoticed { try store.checkpoint() }
    // What was read stays readable.
    #expect(try store.ids().contains(.string("a")))
    expectNoticed { try store.close() }
    #expect(try place.bytes() == older)
    let again = try Store(place.location, creates: false)
    #expect(try again.ids() == [.string("a")])
    try again.note("e")
    try again.close()
    #expect(try place.location.fileSystem.findings(about: place.location.path).isEmpty)
  }

  /// Nothing was written by this opening: the copy is older than what it was opened with.
  @Test(arguments: Kind.allCases) func beforeTheFirstWrite(kind: Kind) throws {
    let place = try Place(kind)
    let first = try noteStore(place.location)
    try first.note("a")
    try first.close()
    let older = try place.bytes()
    let second = try Store(place.location, creates: false)
    try second.note("b")
    try second.close()
    let store = try Store(place.location, creates: false)
    try place.copyOver(older)
    expectNoticed { try store.note("c") }
    #expect(try place.bytes() == older)
    // The newer file comes back, and all goes on.
    let reader = try Store(place.location, creates: false, options: .readOnly)
    #expect(try reader.ids() == [.string("a")])
  }

  /// While the copy is under way there is no store at all.
  @Test func amidTheCopy() throws {
    let place = try Place(.memory)
    let store = try noteStore(place.location)
    try store.note("a")
    let whole = try place.bytes()
    for count in [0, 5, 4_096, 12_288] {
      let part = ContiguousArray(whole.prefix(count))
      try place.copyOver(part)
      #expect(throws: AnnalsError.self) { try store.note("b") }
      #expect(try place.bytes() == part)
    }
    try place.copyOver(whole)
    try store.note("b")
    try store.close()
    #expect(try Store(place.location, creates: false).ids() == [.string("a"), .string("b")])
  }
}
