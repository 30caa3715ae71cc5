import Annals
import AnnalsEngine
import AnnalsModel
import AnnalsStorage
import Foundation

/// The objects of an outbox's store, which `annals dump` and `annals log` show.
enum OutboxSchema {
  /// The version of what is below. One that is not known is refused.
  static let version: Int64 = 1

  static let schema = Schema {
    // One object: whose outbox it is, and the row that the next new object gets.
    Entity("Outbox") {
      Attribute("version", .int64, isOptional: false, default: .int(1))
      Attribute("store", .string)
      Attribute("nextRow", .int64)
    }
    Entity("Draft") {
      Attribute("number", .int64, isUnique: true)
      Attribute("id", .uuid)
      Attribute("author", .string)
      Attribute("context", .string)
      Attribute("message", .string)
      Attribute("group", .string)
      Attribute("date", .date)
      Attribute("basedOn", .string)
      Attribute("policy", .string)
      Attribute("conflict", .string)
      Attribute("byteCount", .int64)
      Attribute("offered", .int64)
      Attribute("offeredMoves", .string)
      Attribute("changes", .data)
      Attribute("objects", .data)
    }
    // A draft that left, and what its objects have become.
    Entity("Settled") {
      Attribute("number", .int64, isUnique: true)
      Attribute("id", .uuid)
      Attribute("transaction", .int64)
      Attribute("moves", .string)
    }
  }

  /// The properties of a draft without its bytes.
  static let listed = [
    "number", "id", "author", "context", "message", "group", "date", "basedOn", "policy",
    "conflict", "byteCount", "offered", "offeredMoves",
  ]
}

extension OutboxItem {
  /// Reads an object of the outbox; nil if nobody wrote it so.
  init?(_ found: DynamicObject) {
    guard case .int(let number) = found["number"], case .uuid(let id) = found["id"],
      case .date(let date) = found["date"], case .int(let byteCount) = found["byteCount"],
      let basis = found.text("basedOn"), let basedOn = Token(basis)
    else { return nil }
    let policyName = found.text("policy")
    let policy = policyName.flatMap { MergePolicy(rawValue: $0) }
    if policyName != nil, policy == nil { return nil }
    self.id = UUID(id)
    self.number = number
    author = found.text("author")
    context = found.text("context")
    message = found.text("message")
    group = found.text("group")
    self.date = Date(date)
    self.basedOn = basedOn
    self.policy = policy
    self.byteCount = Int(byteCount)
    conflict = found.text("conflict").map { AnnalsError(.conflict, $0) }
    object = found.objectID
    if case .int(let number) = found["offered"] { offered = number }
    if let text = found.text("offeredMoves") {
      guard let moves = ObjectMoves(text) else { return nil }
      offeredMoves = moves
    }
  }
}

extension DynamicObject {
  /// A text, also one that has been read as a large value; nil if there is none.
  func text(_ name: String) -> String? {
    if case .string(let text) = self[name] { return text }
    return nil
  }

  /// Bytes; nil if there are none.
  func bytes(_ name: String) -> [UInt8]? {
    if case .data(let bytes) = self[name] { return bytes }
    return nil
  }
}

extension Value {
  /// A text, or null.
  init(_ text: String?) { self = text.map { .string($0) } ?? .null }
}

extension ObjectMoves {
  /// A line each: entity, row and the row that it has now, or `-`.
  var text: String {
    let moved = places.sorted { $0.key < $1.key }.map { "\($0.entity) \($0.row) \($1.row)" }
    let dropped = gone.sorted().map { "\($0.entity) \($0.row) -" }
    return (moved + dropped).joined(separator: "\n")
  }

  /// Reads the text; nil for anything else.
  init?(_ text: String) {
    self.init()
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 3, let entity = EntityNumber(words[0]), let row = Int64(words[1]) else {
        return nil
      }
      let object = ObjectReference(entity: entity, row: row)
      if words[2] == "-" {
        gone.insert(object)
      } else if let now = Int64(words[2]) {
        places[object] = ObjectReference(entity: entity, row: now)
      } else {
        return nil
      }
    }
  }

  /// Adds those of another draft.
  mutating func add(_ other: ObjectMoves) {
    places.merge(other.places) { _, new in new }
    gone.formUnion(other.gone)
  }
}
