import Annals
import AnnalsExchange

/// What `NAME=TEXT` or `NAME:=JSON` says.
struct Assignment: Hashable {
  /// What the property is set to.
  enum Content: Hashable {
    case text(String)
    case json(String)
    case nothing
  }

  var name: String
  var content: Content

  init(name: String, content: Content) {
    self.name = name
    self.content = content
  }

  /// Reads an assignment.
  ///
  /// - Throws: `CommandFailure` for a text without `=` or a name, and for JSON that is none.
  init(_ text: String) throws {
    // A text may begin with an accent, which is one character with what stands before it.
    let bytes = text.utf8
    guard let sign = bytes.firstIndex(of: UInt8(ascii: "=")), sign > bytes.startIndex else {
      throw CommandFailure("`\(text)` sets nothing; write NAME=TEXT or NAME:=JSON", status: .usage)
    }
    let value = String(text[bytes.index(after: sign)...])
    let before = bytes[..<sign]
    guard before.last == UInt8(ascii: ":"), before.count > 1 else {
      name = String(text[..<sign])
      content = .text(value)
      return
    }
    name = String(text[..<bytes.index(before: sign)])
    if let offset = JSONText.firstError(in: value) {
      throw CommandFailure(
        "`\(value)` is not JSON (at byte \(offset)); a text in JSON needs quotes, or write "
          + "\(name)=TEXT", status: .usage)
    }
    content = .json(value)
  }

  /// The assignment that clears a property.
  init(clearing name: String) {
    self.name = name
    content = .nothing
  }
}

extension WriteTransaction {
  /// Inserts the object, or updates it if it exists.
  ///
  /// A date without an offset is one of `zone`, a bare day its first moment.
  func put(_ object: ObjectArgument, _ assignments: [Assignment], zone: LocalZone) throws {
    var json = JSONWriter()
    let entity = schema.entity(named: object.entity)
    json.beginObject()
    let row = try existingRow(object, entity)
    json.member("op", row == nil ? "insert" : "update")
    json.member("entity", object.entity)
    if let row {
      json.member("row", row)
    } else if case .key(_, let key) = object {
      json.member("id", key)
    }
    json.key("set")
    json.beginObject()
    for assignment in assignments {
      json.key(assignment.name)
      switch assignment.content {
      case .nothing:
        guard entity?.propertyNumber(named: assignment.name) != nil else {
          throw CommandFailure(
            "\(object.entity) has no property \(assignment.name) to clear; annals schema FILE "
              + "lists what it has")
        }
        json.null()
      case .json(let text):
        let type = entity?.attribute(named: assignment.name)?.type
        if type == .json {
          // To a json attribute the text itself is the value.
          json.string(text)
        } else if type == .double, let whole = Int64(text), let exact = Double(exactly: whole) {
          // 1 is no reason to make an attribute of doubles one of anything.
          json.value(.double(exact), as: .double)
        } else {
          json.verbatim(text.utf8)
        }
      case .text(let text):
        if let attribute = entity?.attribute(named: assignment.name) {
          guard let value = attribute.type.value(typed: text, zone: zone) else {
            throw CommandFailure(
              "\(object.entity).\(assignment.name) is of type \(attribute.type), and `\(text)` is "
                + "no such value\(attribute.type.form(for: text))")
          }
          json.value(value, as: attribute.type)
        } else {
          json.string(text)
        }
      }
    }
    json.endObject()
    json.endObject()
    try apply(change: json.bytes)
  }

  /// The row to update; nil if the object is to be inserted.
  private func existingRow(_ object: ObjectArgument, _ entity: Entity?) throws -> Int64? {
    if case .row(_, let row) = object { return row }
    guard let entity, entity.keyAttribute != nil else { return nil }
    return try object.lookUp(in: reader)?.row
  }
}

extension AttributeType {
  /// The value that a text stands for that somebody typed: as `value(fromText:)`, but a date may be
  /// written as in a TOKEN.
  fileprivate func value(typed text: String, zone: LocalZone) -> Value? {
    guard self == .date else { return value(fromText: text) }
    if let value = value(fromText: text) { return value }
    // A month is too long to stand for one moment.
    var scanner = DateScanner(text)
    if scanner.yearAndMonth() != nil, scanner.isAtEnd { return nil }
    return TokenArgument.date(text, zone)?.start.map { .date($0) }
  }
}
