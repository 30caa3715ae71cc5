import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage

/// Checks a store after a crash, and that it can be written again.
///
/// The store opens for reading, without changing a byte, and for writing. The pledge permits its
/// head and base. Every transaction and every state is the one that was committed. Both halves of
/// verification find nothing wrong. A projection agrees with the state. One more commit works and
/// is there after reopening. No other file is left.
struct SurvivorCheck {
  let chronicle: Chronicle
  let pledge: Pledge
  /// The permitted numbers of the head; nil if there may be no store.
  let heads: ClosedRange<Int64>?
  private let path = WorkSession.path

  /// Everything but the disk that determines the result of a check.
  struct Expectation: Hashable {
    let chronicle: Chronicle
    let heads: ClosedRange<Int64>?
    let attempted: Int64
    let erasures: Int
    let bases: Set<Int64>
    let copies: [String: Pledge.Copy]
    let consumers: ConsumerPledge
  }

  var expectation: Expectation {
    Expectation(
      chronicle: chronicle, heads: heads, attempted: pledge.attempted, erasures: pledge.erasures,
      bases: pledge.bases, copies: pledge.copies, consumers: pledge.consumers)
  }

  init(_ pledge: Pledge, _ chronicle: Chronicle, afterPowerCut: Bool) {
    self.chronicle = chronicle
    self.pledge = pledge
    heads = pledge.heads(afterPowerCut: afterPowerCut)
  }

  /// Checks the disk, and changes it.
  ///
  /// - Throws: `BrokenPromise` for the first broken promise. Any other error breaks one, too: that
  ///   the store can be used.
  func run(on files: FaultyFileSystem) throws {
    if try files.identity(of: path) == nil {
      guard heads == nil else { throw BrokenPromise("the store is gone") }
      try SurvivorCheck.makeAgain(files)
    }
    if try files.identity(of: path) != nil {
      try files.requireSoundBytes(path)
      try requireReading(files)
    }
    let number = try commitAgain(files)
    try requireEnd(files, number)
    try checkCopies(files)
    try requireDurable(files, number)
  }

  /// Creates the store if its creation was interrupted. A complete file that lacks only its name
  /// gets the name: it may hold the result of long work, so creation refuses to remove it. A file
  /// whose header is not written is salvaged.
  ///
  /// - Throws: the refusal, if there is no such file; `BrokenPromise` if the salvage is incomplete.
  static func makeAgain(_ files: FaultyFileSystem) throws {
    let path = WorkSession.path
    let unnamed = path + ".new"
    guard try files.identity(of: path) == nil, try files.identity(of: unnamed) != nil else {
      return
    }
    do throws(AnnalsError) {
      try Store(files.location(path), creates: true, environment: WorkSession.environment(9_002))
        .close()
    } catch {
      guard error.message.hasPrefix("\(unnamed) is in the way") else { throw error }
      guard error.message.contains("salvaging it reads it") else {
        try files.place(unnamed, at: path)
        return try files.syncDirectory(of: path)
      }
      let copy = "/named.annals"
      try files.place(unnamed, at: copy)
      let report = try Store.salvage(
        files.location(copy), to: path,
        environment: WorkSession.environment(9_003))
      guard report.isComplete else {
        throw BrokenPromise("a store without its header lost something: \(report.lines())")
      }
      try files.remove(copy)
    }
  }

  /// A store that was closed survives a power cut now, under its name.
  private func requireDurable(_ files: FaultyFileSystem, _ number: Int64) throws {
    files.cutPower()
    try files.forEachSurvivor(limit: 2) { survivor in
      guard try survivor.files.identity(of: path) != nil else {
        throw BrokenPromise("the store is gone, though it was closed: \(survivor.description)")
      }
      let store = try Store(survivor.files.location(path), creates: false, options: .readOnly)
      guard store.token.number == number else {
        throw BrokenPromise(
          "the head is \(store.token.number), though \(number) was closed: "
            + survivor.description)
      }
      try store.close()
    }
  }

  /// A reader sees a permitted state, and changes nothing.
  private func requireReading(_ files: FaultyFileSystem) throws {
    let points = files.pointCount
    let store = try Store(files.location(path), creates: false, options: .readOnly)
    try requirePermitted(store)
    try chronicle.check(store, "a reader", states: false, erasures: pledge.erasures)
    try store.close()
    guard files.pointCount == points else {
      throw BrokenPromise("opening for reading wrote: \(files.points[points])")
    }
  }

  private func requirePermitted(_ store: Store) throws {
    let head = store.token.number
    guard (heads ?? 0...pledge.attempted).contains(head) else {
      throw BrokenPromise("the head is \(head); permitted are \(heads.map { "\($0)" } ?? "none")")
    }
    guard pledge.bases.contains(store.base.number) else {
      throw BrokenPromise(
        "the base is \(store.base.number); permitted are \(pledge.bases.sorted())")
    }
    try requireConsumers(store)
  }

  /// Opens for writing and commits once more. Returns the number of that transaction.
  private func commitAgain(_ files: FaultyFileSystem) throws -> Int64 {
    let store = try Store(
      files.location(path), creates: heads == nil, environment: WorkSession.environment(9_001))
    try requirePermitted(store)
    try chronicle.check(store, "a writer", erasures: pledge.erasures)
    try NoteCount.requireConsistent(store)
    try store.requireSoundGraph()
    let head = store.token.number
    try SurvivorCheck.commitOnce(store)
    try NoteCount.requireConsistent(store)
    guard store.token.number == head + 1 else {
      throw BrokenPromise("the next commit after \(head) became \(store.token.number)")
    }
    try store.requireVerified()
    try store.close()
    return head + 1
  }

  /// Commits one more note to a store that may lack the schema.
  static func commitOnce(_ store: Store) throws {
    try store.write(author: "afterwards") { tx in
      if !tx.schema.hasNotes { try tx.require(Note.schema) }
      try WorkSession.insertNote(tx, text: "afterwards")
    }
  }

  /// After the clean close verification finds nothing, and no other file is left.
  private func requireEnd(_ files: FaultyFileSystem, _ number: Int64) throws {
    try files.requireCleanBytes(path)
    let store = try Store(files.location(path), creates: false, options: .readOnly)
    guard store.token.number == number,
      try store.transaction(number).author == "afterwards"
    else { throw BrokenPromise("the commit after the crash is gone") }
    guard try chronicle.agrees(with: store, at: number - 1) else {
      throw BrokenPromise("the state at \(number - 1) changed by the commit after it")
    }
    try store.close()
    let strays = files.paths.filter { $0 != path && pledge.copies[$0] == nil }
      .filter { name in !pledge.copies.keys.contains { name == $0 + ".new" } }
    guard strays.isEmpty else {
      throw BrokenPromise("left behind: \(strays.joined(separator: ", "))")
    }
  }

  /// Stores made from this one are complete or absent, and present if the call returned.
  private func checkCopies(_ files: FaultyFileSystem) throws {
    for (path, copy) in pledge.copies {
      guard try files.identity(of: path) != nil else {
        if copy.isAcknowledged { throw BrokenPromise("\(path) is gone") }
        continue
      }
      guard !copy.isWithdrawn else { throw BrokenPromise("left behind: \(path)") }
      try files.requireSoundBytes(path)
      let store = try Store(files.location(path), creates: false)
      if copy.isPartial {
        try store.close()
        continue
      }
      guard store.token.number == copy.number,
        store.base.number == (copy.isFlat ? copy.number : 0)
      else {
        throw BrokenPromise(
          "\(path) reaches from \(store.base.number) to \(store.token.number)")
      }
      try chronicle.check(store, path)
      try SurvivorCheck.commitOnce(store)
      try store.close()
      // The next writer removes what a crash left of an earlier attempt.
      guard try files.identity(of: path + ".new") == nil else {
        throw BrokenPromise("left behind: \(path).new")
      }
    }
  }
}
