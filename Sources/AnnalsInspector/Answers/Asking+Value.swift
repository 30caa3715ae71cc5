import Annals
import AnnalsModel
import AnnalsState

/// The bytes of a value, or a part of them.
package struct ValueBytes: Sendable {
  package var bytes: [UInt8]
  /// Where they begin in the value, and how many bytes that has.
  package var start: Int
  package var length: Int
  package var isText: Bool
}

extension Asking {
  /// As many bytes of a value are in one answer.
  package static let mostValueBytes = 4 << 20

  /// The bytes of one value: of an object's property at a moment, or before or after a transaction.
  package func value(from start: Int = 0, through last: Int = .max) throws -> ValueBytes {
    let store = try opened()
    let value = try chosenValue(store)
    let isText = value.tag != .data
    var part = ValueBytes(bytes: [], start: start, length: 0, isText: isText)
    switch value {
    case .large(let large): try read(large, into: &part, through: last, store)
    case .data(let bytes): part.keep(bytes, through: last)
    default: part.keep(Array(value.plainText.utf8), through: last)
    }
    return part
  }

  private func read(
    _ large: LargeValue, into part: inout ValueBytes, through last: Int, _ store: OpenedStore
  ) throws {
    part.length = Int(clamping: large.length)
    let end = min(part.length, last < .max ? last + 1 : .max, part.start + Asking.mostValueBytes)
    guard part.start < end else { return }
    var (position, bytes) = (0, [UInt8]())
    let start = part.start
    // Ends the walk through the pieces: all that is wanted was read.
    struct Enough: Error {}
    do {
      let isThere = try store.version.forEachPiece(of: large) { piece in
        try cancellation.check()
        let from = min(max(start - position, 0), piece.count)
        let to = min(max(end - position, 0), piece.count)
        if from < to { bytes += piece[from..<to] }
        position += piece.count
        if position >= end { throw Enough() }
      }
      if !isThere { throw RequestFault("the bytes of the value were lost", .notFound) }
    } catch is Enough {}
    part.bytes = bytes
  }

  private func chosenValue(_ store: OpenedStore) throws -> Value {
    let name = try parameters.required("property")
    let unknown = RequestFault(
      "the object has no property \(name)", .notFound, parameter: "property")
    if let text = parameters["transaction"] {
      let number = try store.number(text, parameter: "transaction")
      let reference = try object(in: store.version.snapshot, of: store)
      let transaction = try store.version.transaction(number)
      for change in transaction.changes
      where ObjectReference(change.objectID) == reference {
        for difference in change.properties where difference.name.hasSameBytes(as: name) {
          return parameters["side"] == "before" ? difference.before : difference.after
        }
      }
      throw unknown
    }
    let snapshot = try snapshot(of: store)
    let reference = try object(in: snapshot, of: store)
    guard let entity = snapshot.schema.entity(numbered: reference.entity),
      let number = entity.propertyNumber(named: name)
    else { throw unknown }
    return try AnnalsError.translating {
      try snapshot.reader.state.value(reference.entity, reference.row, number)
    }
  }
}

extension ValueBytes {
  fileprivate mutating func keep(_ all: [UInt8], through last: Int) {
    length = all.count
    let end = min(all.count, last < .max ? last + 1 : .max, start + Asking.mostValueBytes)
    bytes = start < end ? Array(all[start..<end]) : []
  }
}
