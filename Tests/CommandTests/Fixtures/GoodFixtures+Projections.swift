import Annals
import Foundation

extension FixtureRecipe {
  /// Two projections, of which the checkpoint of transaction 5 saves the one as of 5 and has the
  /// other as one of transaction 3 saved it; transaction 6 comes behind.
  static func projections(in store: Store) throws {
    for number in 1...2 {
      try store.write(author: "Ann") { tx in
        _ = try tx.insert("Note", ["id": .string("\(number)"), "text": .string("fog \(number)")])
      }
    }
    store.register(RandomBytes.self)
    store.register(InsertedNotes.self)
    try store.checkpoint()
    for number in 3...4 {
      try store.write(author: "Ben") { tx in
        _ = try tx.insert("Note", ["id": .string("\(number)"), "text": .string("mist \(number)")])
      }
    }
    // One that fails stays as it was saved.
    try RandomBytes.$fails.withValue(true) { try store.checkpoint() }
    try store.write { tx in
      _ = try tx.insert("Note", ["id": "5"])
    }
  }
}

/// The texts of inserted notes, one in each line: bytes that are worth deflating.
private struct InsertedNotes: Projection {
  static let name = "inserted notes"
  static let version = 1
  var text = ""

  mutating func apply(_ transaction: Transaction) throws {
    for change in transaction.changes where change.kind == .insert {
      text +=
        "the note \"\(change.after("text"))\", inserted by \(transaction.author ?? "nobody")\n"
    }
  }

  func encoded() throws -> Data { Data(text.utf8) }
}

extension InsertedNotes {
  init(encoded: Data) throws { text = String(decoding: encoded, as: UTF8.self) }
}

/// 1,000 bytes that cannot be deflated.
private struct RandomBytes: Projection {
  static let name = "random bytes – zufällig"
  static let version = 300
  @TaskLocal static var fails = false
  var state: UInt64 = 1

  mutating func apply(_ transaction: Transaction) throws {
    if RandomBytes.fails { throw CocoaError(.featureUnsupported) }
    state += 1
  }

  func encoded() throws -> Data {
    var numbers = state
    return Data(
      (0..<1_000).map { _ in
        numbers = numbers &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: numbers >> 56)
      })
  }
}

extension RandomBytes {
  init(encoded: Data) throws { throw CocoaError(.featureUnsupported) }
}
