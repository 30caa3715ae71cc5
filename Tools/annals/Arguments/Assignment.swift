import Annals

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
  func put(_ object: ObjectArgument, _ assignments: [Assignment]) throws {
    var json = JSONWriter()
    let entity = schema.entity(named: object.entity)
    json.beginObject()
    json.member("op", try exists(object, entity) ? "update" : "insert")
    json.member("entity", object.entity)
    switch object {
    case .key(_, let key): json.member("id", key)
    case .row(_, let row): json.member("row", row)
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
          guard let value = attribute.type.value(fromText: text) else {
            throw CommandFailure(
              "\(object.entity).\(assignment.name) is of type \(attribute.type), and `\(text)` is "
                + "no such value\(attribute.type.form)")
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

  private func exists(_ object: ObjectArgument, _ entity: Entity?) throws -> Bool {
    guard case .key(_, let text) = object else { return true }
    guard let entity, let attribute = entity.keyAttribute,
      let key = attribute.type.value(fromText: text)
    else { return false }
    return try row(of: entity, where: attribute.name, is: key) != nil
  }
}
