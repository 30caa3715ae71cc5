import Annals
import AnnalsModel
import AnnalsStorage
import Foundation

/// The work of a child process, which uses the store at a path until it is killed.
///
/// It prints a line for each promise after the call returned. Only complete lines count.
package struct TortureChild: Sendable {
  /// The role of a child.
  package enum Role: String, Sendable, CaseIterable {
    /// Commits with syncs; prints `committed NUMBER KEY` for each.
    case writer
    /// Commits without syncs; prints the same.
    case deferredWriter = "deferred-writer"
    /// Writes checkpoints, compacts, prunes, backs up and extends the schema; prints
    /// `pruning FLOOR` before it prunes.
    case keeper
    /// Opens, reads the state, past states and the history; prints `read HEAD`.
    case reader
    /// Commits with syncs, with a live view and a stream of transactions open, which must receive
    /// all commits; prints `committed NUMBER KEY`, and `read NUMBER` when both have arrived there.
    case follower
    /// Follows the same way, but read-only; prints `read NUMBER`.
    case listener
    /// Commits with syncs, and erases the text of some of its notes; prints `committed NUMBER KEY`,
    /// `erasing KEY`, and `erased KEY` afterwards.
    case eraser
  }

  private let role: Role
  private let path: String
  private let name: String
  private var random: SeededNumbers
  private var writing: Store?
  private var following: (store: Store, follower: TortureFollower)?
  private var count = 0

  /// A child with this role. Its name is the prefix of the keys that it writes.
  package init(_ role: Role, path: String, name: String) {
    self.role = role
    self.path = path
    self.name = name
    random = SeededNumbers(seed: 3, name)
  }

  /// Works for a while. A child calls it again and again until it is killed.
  ///
  /// - Throws: what the store throws, except `busy` and `conflict`; `BrokenPromise` if what it
  ///   reads is wrong.
  package mutating func step() throws {
    switch role {
    case .writer: try write(TortureChild.options(.full))
    case .deferredWriter: try write(TortureChild.options(.deferred))
    case .keeper: try keep()
    case .reader: try read()
    case .follower: try commitFollowing()
    case .listener: try listen()
    case .eraser: try erase()
    }
  }

  /// Options with a lock timeout that a busy machine does not reach: a child that timed out would
  /// look like one that found an error.
  static func options(_ durability: StoreOptions.Durability) -> StoreOptions {
    var options = StoreOptions()
    options.durability = durability
    options.lockTimeout = .seconds(3_600)
    return options
  }

  func printLine(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  // MARK: Writing

  private mutating func write(_ options: StoreOptions) throws {
    let store = try writing ?? Store(path: path, schema: Note.schema, options: options)
    writing = store
    _ = try commit(to: store)
  }

  /// Commits a note. Returns the number of its transaction.
  private mutating func commit(to store: Store) throws -> Int64 {
    count += 1
    let key = "\(name)-\(count)"
    let token = try store.commit(author: name) { tx in try TortureChild.insert(key, tx) }.token
    printLine("committed \(token.number) \(key)")
    return token.number
  }

  // MARK: Erasing

  /// The prefix of the keys of notes that may be erased.
  static let erasedPrefix = "\(Role.eraser.rawValue.prefix(1))"

  private mutating func erase() throws {
    let store =
      try writing
      ?? Store(
        path: path, schema: Note.schema, options: TortureChild.options(.full))
    writing = store
    _ = try commit(to: store)
    let key = "\(name)-\(Int.random(in: 1...count, using: &random))"
    guard let note = try store.snapshot().object(of: "Note", where: "id", is: .string(key)) else {
      throw BrokenPromise("note \(key), acknowledged, is gone")
    }
    printLine("erasing \(key)")
    try store.erase(note.objectID, properties: ["text"], reason: "torture", author: name)
    printLine("erased \(key)")
  }

  // MARK: Following

  private mutating func follow(
    _ open: () throws -> Store
  ) throws -> (store: Store, follower: TortureFollower) {
    if let following { return following }
    let store = try open()
    let made = (store, TortureFollower(store))
    following = made
    return made
  }

  private mutating func commitFollowing() throws {
    let (store, follower) = try follow { [path] in
      try Store(path: path, schema: Note.schema, options: TortureChild.options(.full))
    }
    let number = try commit(to: store)
    guard count % 8 == 0 else { return }
    // Then all earlier commits of others have arrived, too.
    try follower.wait(for: number)
    printLine("read \(number)")
  }

  private mutating func listen() throws {
    guard FileManager.default.fileExists(atPath: path) else {
      return Thread.sleep(forTimeInterval: 0.002)
    }
    let newest = try Store(path: path, options: .readOnly)
    let number = newest.token.number
    let hasNotes = newest.schema.hasNotes
    try newest.close()
    guard hasNotes else { return }
    let (_, follower) = try follow { [path] in try Store(path: path, options: .readOnly) }
    try follower.wait(for: number)
    printLine("read \(number)")
  }

  /// Inserts the note of a key, and counts it in the tally.
  static func insert(_ key: String, _ tx: WriteTransaction) throws {
    try tx.insert("Note", ["id": .string(key), "text": .string(text(of: key))])
    if let tally = try tx.object(of: "Note", where: "id", is: .string(tallyKey)) {
      guard case .int(let count) = tally["count"] else {
        throw BrokenPromise("the tally is no number")
      }
      try tx.update(tally.objectID, ["count": .int(count + 1)])
    } else {
      try tx.insert("Note", ["id": .string(tallyKey), "count": .int(1)])
    }
  }

  /// The key of the note that counts the others.
  static let tallyKey = "tally"

  /// The text of a note, determined by its key. One in twenty is a large value.
  static func text(of key: String) -> String {
    var numbers = SeededNumbers(seed: 5, key)
    let isLarge = UInt64.random(in: 0..<20, using: &numbers) == 0
    return numbers.text(Int.random(in: isLarge ? 4_000...30_000 : 0...120, using: &numbers))
  }

  // MARK: Keeping

  private mutating func keep() throws {
    let store = try Store(
      path: path, schema: Note.schema, options: TortureChild.options(.full))
    do {
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        try keep(store, UInt64.random(in: 0..<6, using: &random))
      }
      try store.close()
    } catch let error as AnnalsError {
      // Another keeper was faster; the next round continues from there.
      guard [.busy, .conflict].contains(error.code) else { throw error }
    }
  }

  private func keep(_ store: Store, _ choice: UInt64) throws {
    switch choice {
    case 0: try store.checkpoint()
    case 1: try store.compact()
    case 2:
      try store.refresh()
      let floor = max(store.token.number - 60, store.base.number + 1)
      let plan = try store.prunePlan(before: floor)
      printLine("pruning \(floor)")
      try store.prune(plan, author: name)
    case 3: try store.compact(smallest: true)
    case 4:
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
      let copy = folder.appending(path: "copy-\(name).annals").path
      try store.backup(to: copy)
      try PosixFileSystem().remove(copy)
    default:
      let entity = "Extra \(store.token.number % 5)"
      try store.require(Schema { Entity(entity) { Attribute("x", .int64) } })
    }
  }

  // MARK: Reading

  private mutating func read() throws {
    // It may not exist yet.
    guard FileManager.default.fileExists(atPath: path) else {
      return Thread.sleep(forTimeInterval: 0.002)
    }
    let store = try Store(path: path, options: .readOnly)
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      try TortureChild.check(store, &random)
      printLine("read \(store.token.number)")
      guard try refresh(store) else { return }
    }
    try store.close()
  }

  /// Refreshes the store. Returns false if commits that it had read, not synced, were lost.
  private func refresh(_ store: Store) throws -> Bool {
    do {
      try store.refresh()
      return true
    } catch {
      guard error.code == .lostBranch else { throw error }
      return false
    }
  }

  /// Checks one state, a past one and the history between them.
  ///
  /// - Throws: `BrokenPromise` if one is torn: a note has another text than was written, or the
  ///   tally is not the number of notes.
  static func check(_ store: Store, _ random: inout SeededNumbers) throws {
    let snapshot = store.snapshot()
    try check(snapshot, store)
    let base = store.base.number
    guard snapshot.number > base else { return }
    let past = Int64.random(in: max(base, snapshot.number - 30)...snapshot.number, using: &random)
    try check(store.snapshot(at: past), store)
    var next = past + 1
    try store.history(after: past).forEach { transaction in
      guard transaction.number == next else {
        throw BrokenPromise("transaction \(transaction.number) follows \(next - 1)")
      }
      next += 1
    }
    guard next == snapshot.number + 1 else {
      throw BrokenPromise("history ends at \(next - 1), not \(snapshot.number)")
    }
  }

  /// Every note has the text of its key, and the tally is their number.
  private static func check(_ snapshot: Snapshot, _ store: Store) throws {
    var notes: Int64 = 0
    var tally: Int64 = 0
    guard snapshot.schema.hasNotes else { return }
    try snapshot.forEachObject(of: "Note") { object in
      guard case .string(let key) = object["id"] else { throw BrokenPromise("a note without key") }
      if key == tallyKey {
        if case .int(let count) = object["count"] { tally = count }
        return
      }
      notes += 1
      guard try matches(object["text"], key, store) else {
        throw BrokenPromise("note \(key) at \(snapshot.number) is not what was written")
      }
    }
    guard notes == tally else {
      throw BrokenPromise("the state at \(snapshot.number) has \(notes) notes; counted \(tally)")
    }
  }

  /// Whether a stored text is the one of the key.
  static func matches(_ value: Value, _ key: String, _ store: Store) throws -> Bool {
    try value.isErased
      ? key.hasPrefix(erasedPrefix) : Note.holds(value, text(of: key), in: store)
  }
}
