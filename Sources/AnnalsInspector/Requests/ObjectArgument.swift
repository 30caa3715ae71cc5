import Annals

/// A parsed OBJECT of the command line.
package enum ObjectArgument: Hashable {
  /// `Entity/KEY`: the object with this key.
  case key(entity: String, key: String)
  /// `Entity#ROW`: the object in this row.
  case row(entity: String, row: Int64)

  /// Parses an OBJECT: splits at the first `/`, or without one at the last `#`.
  ///
  /// - Throws: `RequestFault` with the accepted forms.
  package init(_ text: String) throws {
    // By bytes: a key may begin with a combining accent, which joins the character before it.
    let bytes = text.utf8
    if let slash = bytes.firstIndex(of: UInt8(ascii: "/")), slash > bytes.startIndex {
      self = .key(
        entity: String(text[..<slash]), key: String(text[bytes.index(after: slash)...]))
      return
    }
    guard let mark = bytes.lastIndex(of: UInt8(ascii: "#")), mark > bytes.startIndex,
      let row = Int64(text[bytes.index(after: mark)...]), row > 0,
      bytes[bytes.index(after: mark)...].allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
    else { throw RequestFault.badObject(text) }
    self = .row(entity: String(text[..<mark]), row: row)
  }

  /// The name of the object's entity.
  package var entity: String {
    switch self {
    case .key(let entity, _), .row(let entity, _): entity
    }
  }

  /// The argument as it was given.
  package var text: String {
    switch self {
    case .key(let entity, let key): "\(entity)/\(key)"
    case .row(let entity, let row): "\(entity)#\(row)"
    }
  }
}
