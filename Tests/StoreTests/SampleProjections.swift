import Annals
import AnnalsStorage
import Foundation

/// How many notes have each text: what the state alone tells, too.
struct NotesPerText: Projection, Codable {
  static let name = "notes per text"
  static let version = 1
  var counts: [String: Int] = [:]

  mutating func apply(_ transaction: Transaction) throws {
    for change in transaction.changes where change.entityName == "Note" {
      let isTouched = change.kind != .update || change.changedProperties.contains("text")
      guard isTouched else { continue }
      if change.kind != .insert { add(-1, change.before("text")) }
      if change.kind != .delete { add(1, change.after("text")) }
    }
  }

  mutating func add(_ step: Int, _ text: Value) {
    // A long text may be a large value.
    let key = if case .string(let text) = text, text.utf8.count < 4_096 { text } else { "-" }
    let count = counts[key, default: 0] + step
    counts[key] = count == 0 ? nil : count
  }
}

extension NotesPerText {
  init(base: Snapshot) throws {
    guard base.schema.entity(named: "Note") != nil else { return }
    try base.forEachObject(of: "Note") { add(1, $0["text"]) }
  }

  /// The same, counted in a state.
  static func counted(_ snapshot: Snapshot) throws -> NotesPerText {
    try NotesPerText(base: snapshot)
  }
}

/// How many transactions each author made: what only history tells. Its bytes are its own.
struct CommitsPerAuthor: Projection {
  static let name = "commits per author"
  static let version = 3
  var counts: [String: Int] = [:]

  mutating func apply(_ transaction: Transaction) throws {
    counts[transaction.author ?? "", default: 0] += 1
  }

  func encoded() throws -> Data {
    Data(
      counts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",").utf8)
  }
}

extension CommitsPerAuthor {
  init(encoded: Data) throws {
    for part in String(decoding: encoded, as: UTF8.self).split(separator: ",") {
      let pair = part.split(separator: "=", omittingEmptySubsequences: false)
      guard pair.count == 2, let count = Int(pair[1]) else { throw Mismatch("bytes: \(part)") }
      counts[String(pair[0])] = count
    }
  }
}

/// A count whose code a test breaks while it runs.
struct FaultyCount: Projection, Codable {
  static let name = "faulty count"
  static let version = 1
  /// What the next calls do. Guarded by the lock; tests that use it are serialized.
  static let fault = Locked<Fault?>(nil)

  enum Fault {
    case countsTwice, throwsInApply, throwsInEncoding, throwsInDecoding, decodesWrongly
    case forgetsTheBase
  }

  var count = 0

  static func has(_ fault: Fault) -> Bool { self.fault.withLock { $0 == fault } }

  /// Runs `body` with the fault.
  static func with<R>(_ fault: Fault, _ body: () throws -> R) rethrows -> R {
    self.fault.withLock { $0 = fault }
    defer { self.fault.withLock { $0 = nil } }
    return try body()
  }

  mutating func apply(_ transaction: Transaction) throws {
    for change in transaction.changes {
      switch change.kind {
      case .insert: count += FaultyCount.has(.countsTwice) ? 2 : 1
      case .delete: count -= 1
      case .update: break
      }
    }
    if FaultyCount.has(.throwsInApply) { throw Mismatch("apply was told to throw") }
  }

  func encoded() throws -> Data {
    if FaultyCount.has(.throwsInEncoding) { throw Mismatch("encoded was told to throw") }
    return Data("\(count)".utf8)
  }
}

extension FaultyCount {
  init(encoded: Data) throws {
    if FaultyCount.has(.throwsInDecoding) { throw Mismatch("decoding was told to throw") }
    guard let count = Int(String(decoding: encoded, as: UTF8.self)) else {
      throw Mismatch("no number")
    }
    self.count = FaultyCount.has(.decodesWrongly) ? count + 1 : count
  }

  init(base: Snapshot) throws {
    guard base.schema.entity(named: "Note") != nil else { return }
    count = FaultyCount.has(.forgetsTheBase) ? 0 : try base.count(of: "Note")
  }
}
