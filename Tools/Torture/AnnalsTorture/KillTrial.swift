import Annals
import AnnalsInspection
import AnnalsStorage
import Foundation

/// Kills processes at random moments while they write, read and rewrite one file. Checks that
/// everything they were promised is there.
package final class KillTrial {
  private let folder: String
  private let path: String
  private let executable: String
  private let work: Work
  private var random: SeededNumbers
  private var children: [ChildProcess] = []
  private var startCount = 0
  /// The promises: the key of the note by transaction number.
  private var promised: [Int64: String] = [:]
  /// The keys of the notes whose text was erased.
  private(set) var erased: Set<String> = []
  /// The highest floor that a prune may have set.
  private var floor: Int64 = 1

  /// A trial with a store in an existing folder. Each child runs `executable`, the command
  /// `annals`.
  package init(_ work: Work = .rewriting, folder: String, executable: String, seed: UInt64) {
    self.work = work
    self.folder = folder
    self.executable = executable
    path = folder + "/killed.annals"
    random = SeededNumbers(seed: seed)
  }

  deinit { for child in children { child.kill() } }

  /// The combination of roles of the processes.
  package enum Work: Sendable {
    /// They write, with both kinds of durability, read and rewrite.
    case rewriting
    /// They write and rewrite, with live views and streams of transactions open.
    case following
    /// They write, read, rewrite, and erase their own notes.
    case erasing

    fileprivate var roles: [TortureChild.Role] {
      switch self {
      case .rewriting: [.writer, .deferredWriter, .writer, .keeper, .reader]
      case .following: [.follower, .follower, .follower, .keeper, .listener]
      case .erasing: [.eraser, .writer, .eraser, .keeper, .reader]
      }
    }
  }

  /// Starts five processes, stops and kills some of them one by one and replaces them, then kills
  /// all at once, and checks the store.
  ///
  /// - Throws: `BrokenPromise` for the first broken promise.
  package func round(kills: Int, _ tally: inout Tally) throws {
    for role in work.roles { try start(role) }
    for _ in 0..<kills {
      pause(milliseconds: 5...60)
      try haltOne()
      try requireRunning()
      let index = Int.random(in: 0..<children.count, using: &random)
      let role = children[index].role
      try end(children.remove(at: index), &tally)
      try start(role)
    }
    try awaitCommit()
    pause(milliseconds: 5...60)
    try requireRunning()
    let last = children.shuffled(using: &random)
    children = []
    for child in last { child.kill() }
    for child in last { try end(child, &tally) }
    try check(&tally)
  }

  /// Stops one of them for a moment if they follow each other, so that it misses events.
  private func haltOne() throws {
    guard work == .following, let child = children.randomElement(using: &random) else { return }
    child.stop()
    pause(milliseconds: 5...60)
    child.resume()
  }

  /// Waits until one of the children has committed or erased something: on a busy machine all of
  /// them may start later than all pauses take.
  private func awaitCommit() throws {
    let sign = work == .erasing ? "erased" : "committed"
    while try !children.contains(where: { try $0.lines().contains { $0.first == sign } }) {
      try requireRunning()
      Thread.sleep(forTimeInterval: 0.002)
    }
  }

  private func pause(milliseconds: ClosedRange<Int>) {
    let time = Int.random(in: milliseconds, using: &random)
    Thread.sleep(forTimeInterval: Double(time) / 1000)
  }

  private func start(_ role: TortureChild.Role) throws {
    startCount += 1
    children.append(
      try ChildProcess(
        role, name: "\(role.rawValue.prefix(1))\(startCount)", executable: executable, path: path,
        folder: folder))
  }

  private func requireRunning() throws {
    for child in children where !child.isRunning { throw BrokenPromise(child.complaint) }
  }

  /// Kills a child and records its promises.
  private func end(_ child: ChildProcess, _ tally: inout Tally) throws {
    child.kill()
    tally.kills += 1
    for line in try child.lines() {
      switch (line.first, line.count) {
      case ("committed", 3):
        guard let number = Int64(line[1]) else { continue }
        tally.acknowledged += 1
        if let other = promised.updateValue(line[2], forKey: number) {
          throw BrokenPromise("transaction \(number) was promised to \(other) and to \(line[2])")
        }
      case ("pruning", 2): floor = max(floor, Int64(line[1]) ?? 1)
      case ("read", 2): tally.reads += 1
      case ("erasing", 2): break
      case ("erased", 2): erased.insert(line[1])
      default: throw BrokenPromise("\(child.name) said: \(line.joined(separator: " "))")
      }
    }
  }

  /// Opens the store and checks the promises; then closes it and verifies its bytes.
  private func check(_ tally: inout Tally) throws {
    guard FileManager.default.fileExists(atPath: path) else {
      guard promised.isEmpty else { throw BrokenPromise("the store is gone") }
      return
    }
    let store = try Store(path: path, schema: Note.schema)
    try TortureChild.check(store, &random)
    let base = store.base.number
    guard base < floor else {
      throw BrokenPromise(
        "transactions up to \(base) are pruned; asked for were up to \(floor - 1)")
    }
    let present = store.snapshot()
    var missing = promised.filter { $0.key > base }
    try store.history().forEach { transaction in
      guard let key = missing.removeValue(forKey: transaction.number) else { return }
      let made = transaction.changes.first { $0.kind == .insert && $0.after("id") == .string(key) }
      guard let made, try TortureChild.matches(made.after("text"), key, store) else {
        throw BrokenPromise("transaction \(transaction.number) is not the one that was promised")
      }
    }
    if let (number, key) = missing.min(by: { $0.key < $1.key }) {
      throw BrokenPromise("transaction \(number) (\(key)), acknowledged, is gone")
    }
    for (number, key) in promised {
      guard try present.object(of: "Note", where: "id", is: .string(key)) != nil else {
        throw BrokenPromise("note \(key) of transaction \(number), acknowledged, is gone")
      }
    }
    tally.found = tally.acknowledged
    try store.requireVerified()
    try requireErased(store)
    try store.write(author: "afterwards") { try TortureChild.insert("after \(startCount)", $0) }
    try store.close()
    try requireCleanFile()
  }

  /// No erased text is in a transaction, in the oldest state, or anywhere in the file.
  private func requireErased(_ store: Store) throws {
    guard !erased.isEmpty else { return }
    try store.history().forEach { transaction in
      for change in transaction.changes {
        guard case .string(let key) = change.after("id"), erased.contains(key) else { continue }
        guard change.after("text").isErased else {
          throw BrokenPromise("transaction \(transaction.number) still says what \(key) said")
        }
      }
    }
    let oldest = try store.snapshot(at: store.base)
    guard oldest.schema.hasNotes else { return try requireErasedBytes() }
    try oldest.forEachObject(of: "Note") { note in
      guard case .string(let key) = note["id"], erased.contains(key) else { return }
      guard note["text"].isErased else {
        throw BrokenPromise("the oldest state still says what \(key) said")
      }
    }
    try requireErasedBytes()
  }

  private func requireErasedBytes() throws {
    let contents = try FileContents(PosixFileSystem().open(path, for: .reading))
    for key in erased {
      let text = Array(TortureChild.text(of: key).utf8.prefix(40))
      if text.count >= 16, contents.count(of: text) > 0 {
        throw BrokenPromise("the file still has what \(key) said, which was erased")
      }
    }
  }

  private func requireCleanFile() throws {
    let report = try StoreFile.with(path: path) { found in
      var verification = try PhysicalVerification(found.file)
      return try verification.run { _ in }
    }
    guard report.isClean else {
      throw BrokenPromise("after the close: \(report.errors) errors, \(report.warnings) warnings")
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    let strays = names.filter { $0.hasPrefix("killed.annals.") }
    guard strays.isEmpty else { throw BrokenPromise("left behind: \(strays)") }
  }
}
