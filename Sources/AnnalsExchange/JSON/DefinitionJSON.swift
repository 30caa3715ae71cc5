import AnnalsModel

// Definitions as JSON: an object whose members are their fields.

extension JSONWriter {
  /// Writes a definition: the fields that are not as usual.
  mutating func definition(_ members: [FieldMember]) {
    beginObject()
    for member in members {
      key(member.name)
      content(member.content)
    }
    endObject()
  }

  private mutating func content(_ content: FieldContent) {
    switch content {
    case .flag(let flag): bool(flag)
    case .number(let number): int(Int64(number))
    case .whole(let number): int(number)
    case .text(let text), .word(let text): string(text)
    case .value(let value, let type): self.value(value, as: type)
    case .values(let values, let type):
      beginArray()
      for value in values { self.value(value, as: type) }
      endArray()
    case .list(let items):
      beginArray()
      for item in items { definition(item) }
      endArray()
    case .part(let members): definition(members)
    }
  }
}

extension JSONReader {
  /// The fields of the definition that begins with `token`.
  ///
  /// - Throws: `InputFault` for an unknown or repeated member, content of another form, and a field
  ///   that is lacking.
  func members(
    _ token: JSONToken, _ shape: DefinitionShape
  ) throws(InputFault) -> [FieldMember] {
    var found: [FieldMember] = []
    // Values are kept as text until the type is known.
    var unread: [(name: String, text: ContiguousArray<UInt8>)] = []
    try members(token, of: shape.article) { (name, value) throws(InputFault) in
      guard let field = shape.fields.first(where: { $0.name.hasSameBytes(as: name) }) else {
        return false
      }
      if let content = try self.content(value, name, field.form) {
        found.append((name, content))
      } else {
        unread.append((name, try compactText(value)))
      }
      return true
    }
    func known(_ name: String) -> FieldContent? { found.first { $0.name == name }?.content }
    var title = ""
    if case .text(let name) = known("name") { title = name }
    for field in shape.fields {
      guard let lack = field.lack, known(field.name)?.isEmpty ?? true else { continue }
      throw fault("\(shape.title) \(title.isEmpty ? lack : "\(title) \(lack)")")
    }
    guard !unread.isEmpty, case .word(let word) = known("type") else { return found }
    let type = AttributeType.allCases.first { "\($0)" == word } ?? .any
    for (name, text) in unread {
      let isList = shape.fields.contains { field in
        if case .values = field.form { field.name == name } else { false }
      }
      let values = try self.values(text, "\(name) of \(title)", isList: isList, type)
      if isList {
        found.append((name, .values(values, type)))
      } else if let value = values.first {
        found.append((name, .value(value, type)))
      }
    }
    return found
  }

  /// The content that begins with `token`; nil, with nothing read, for values of a type.
  private func content(
    _ token: JSONToken, _ name: String, _ form: FieldForm
  ) throws(InputFault) -> FieldContent? {
    switch form {
    case .flag: return .flag(try flag(token, of: name))
    case .number: return .number(try stableNumber(token))
    case .whole: return .whole(try whole(token, of: name))
    case .text: return .text(try text(token, of: name))
    case .word(let words, let refusal):
      let text = try text(token, of: name)
      guard words.contains(where: { $0.hasSameBytes(as: text) }) else {
        throw fault("`\(text)` \(refusal)")
      }
      return .word(text)
    case .any: return .value(try value(token, for: .any) ?? .null, .any)
    case .list(let shape):
      var items: [[FieldMember]] = []
      try elements(token, of: name) { (item) throws(InputFault) in
        items.append(try members(item, shape))
      }
      return .list(items)
    case .part(let shape): return .part(try members(token, shape))
    case .value, .values: return nil
    }
  }

  /// The value, or the values of a list, in JSON text; `what` is what messages call it.
  private func values(
    _ text: ContiguousArray<UInt8>, _ what: String, isList: Bool, _ type: AttributeType
  ) throws(InputFault) -> [Value] {
    let inner = JSONReader(MemorySource(text), framing: .document)
    var values: [Value] = []
    func read(_ token: JSONToken) throws(InputFault) {
      let value: Value?
      do throws(InputFault) {
        value = try inner.value(token, for: type)
      } catch {
        throw fault("\(what): \(error.reason)")
      }
      guard let value, !value.isNull else {
        throw fault("\(what) is no value of type \(type)")
      }
      values.append(value)
    }
    let first = try inner.next()
    if isList {
      try inner.elements(first, of: "oneOf") { (item) throws(InputFault) in try read(item) }
    } else {
      try read(first)
    }
    return values
  }
}
