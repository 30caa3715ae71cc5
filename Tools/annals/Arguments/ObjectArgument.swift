import Annals

/// What an OBJECT on the command line says.
enum ObjectArgument: Hashable {
  /// `Entity/KEY`: the object of this key.
  case key(entity: String, key: String)
  /// `Entity#ROW`: the object in this row.
  case row(entity: String, row: Int64)

  /// Reads an OBJECT: split at the first `/`; without one, at the last `#`.
  ///
  /// - Throws: `CommandFailure` with what is understood.
  init(_ text: String) throws {
    if let slash = text.firstIndex(of: "/"), slash > text.startIndex {
      self = .key(
        entity: String(text[..<slash]), key: String(text[text.index(after: slash)...]))
      return
    }
    guard let mark = text.lastIndex(of: "#"), mark > text.startIndex,
      let row = Int64(text[text.index(after: mark)...]), row > 0,
      text[text.index(after: mark)...].utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
    else { throw CommandFailure.badObject(text) }
    self = .row(entity: String(text[..<mark]), row: row)
  }

  /// The name of the object's entity.
  var entity: String {
    switch self {
    case .key(let entity, _), .row(let entity, _): entity
    }
  }

  /// The argument as it was given.
  var text: String {
    switch self {
    case .key(let entity, let key): "\(entity)/\(key)"
    case .row(let entity, let row): "\(entity)#\(row)"
    }
  }
}
