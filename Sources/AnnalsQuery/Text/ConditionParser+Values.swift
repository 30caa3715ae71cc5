import AnnalsModel

extension ConditionParser {
  /// Reads a value, as one of the property's type.
  mutating func value(_ kind: PropertyKind) throws(ConditionTextError) -> Value {
    let column = token.column
    if case .attribute(.date) = kind, let moment = relativeMoment {
      try advance()
      return .date(moment)
    }
    if case .attribute(.day) = kind, let day = try day() {
      try advance()
      return .day(day)
    }
    if case .attribute(.decimal) = kind, case .number(let text) = token.kind {
      let number = try decimal(text)
      try advance()
      return .decimal(number)
    }
    let written = token.bareText
    let value = try literal()
    guard let typed = typed(value, kind) else {
      var reason =
        "expected a value of type \(kind); \(value.conditionText) is of type \(value.tag)"
      switch kind {
      case .attribute(.string):
        if let written { reason += ". A text stands in quotes: \"\(written)\"" }
      case .attribute(.date):
        // A year alone is a number; a text may be one, too.
        var text = written ?? ""
        if case .string(let found) = value { text = found }
        let isYear = text.utf8.count == 4 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        reason += ". A date stands without quotes: \(isYear ? text : "2019")-01-01"
      case .attribute(.day): reason += ". A day stands without quotes: 2019-01-01"
      case .object(let entity?):
        reason += ". An object is \(entity.name)#5"
        if let property = entity.tellingAttribute {
          reason += "; to compare a property of it, write .\(property) behind the relationship"
        }
      default: break
      }
      throw ConditionTextError(column: column, reason: reason)
    }
    return typed
  }

  /// The value as one of the property's type; nil if it cannot be one.
  private func typed(_ value: Value, _ kind: PropertyKind) -> Value? {
    switch (kind, value) {
    case (.unknown, _), (_, .null), (.attribute(.any), _), (.object, .object): return value
    case (.attribute(let type), _) where type.tag == value.tag: return value
    case (.attribute(.double), .int), (.attribute(.int16), .double), (.attribute(.int32), .double),
      (.attribute(.int64), .double), (.attribute(.decimal), .double), (.attribute(.decimal), .int),
      (.attribute(.int16), .decimal), (.attribute(.int32), .decimal),
      (.attribute(.int64), .decimal), (.attribute(.double), .decimal):
      return value
    case (.attribute(.decimal), .string(let text)): return RawDecimal(text).map(Value.decimal)
    case (.attribute(.day), .string(let text)): return writtenDay(text).map(Value.day)
    case (.attribute(.uuid), .string(let text)): return RawUUID(text).map(Value.uuid)
    case (.attribute(.date), .string(let text)): return moment(text).map(Value.date)
    case (.attribute(.url), .string(let text)): return .url(text)
    case (.attribute(.json), .string(let text)): return .json(text)
    default: return nil
    }
  }

  private mutating func literal() throws(ConditionTextError) -> Value {
    let column = token.column
    switch token.kind {
    case .string(let text):
      try advance()
      return .string(text)
    case .uuid(let uuid):
      try advance()
      return .uuid(uuid)
    case .date(let text):
      guard let moment = moment(text) else {
        throw ConditionTextError(
          column: column, reason: "\(text) is no date; write 2019-10-01 or 2019-10-01T12:00:00Z")
      }
      try advance()
      return .date(moment)
    case .number(let text):
      try advance()
      if isAt("#"), token.isAttached { return try object(EntityNumber(text), column) }
      return try number(text, column)
    case .age(let text):
      throw ConditionTextError(
        column: column,
        reason: "\(text) is an age, and stands where a date is compared; a text stands in quotes")
    case .name(let name):
      try advance()
      return try object(schema.entity(named: name)?.number, column)
    case .word(let word):
      try advance()
      return try namedValue(word, column)
    case .symbol, .end: throw expected("a value")
    }
  }

  private func number(_ text: String, _ column: Int) throws(ConditionTextError) -> Value {
    if let number = Int64(text) { return .int(number) }
    let isWhole = text.utf8.allSatisfy { $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }
    guard !isWhole, let number = Double(inRange: text) else {
      throw ConditionTextError(
        column: column, reason: "\(text) is beyond the numbers that there are")
    }
    return .double(number)
  }

  /// The number as a decimal, all digits kept.
  private func decimal(_ text: String) throws(ConditionTextError) -> RawDecimal {
    guard let number = RawDecimal(text) else {
      throw ConditionTextError(
        column: token.column, reason: "\(text) is no decimal; \(RawDecimal.rangeText)")
    }
    return number
  }

  /// The day of the token, if it is one: a date without a time, or one in relation to now. Nil for
  /// other tokens.
  private func day() throws(ConditionTextError) -> CalendarDay? {
    switch token.kind {
    case .word(let text), .age(let text): return relativeDay(text)
    case .date(let text):
      if let day = CalendarDay(text) { return day }
      let written = WrittenDate(text)
      let reason =
        if written?.hour != nil {
          "a day has no time"
        } else if let written {
          written.day == nil ? "it names no single day" : CalendarDay.rangeText
        } else {
          "there is no such date"
        }
      throw ConditionTextError(
        column: token.column, reason: "\(text) is no day: \(reason); write 2019-10-01")
    default: return nil
    }
  }

  private func writtenDay(_ text: String) -> CalendarDay? {
    CalendarDay(text) ?? relativeDay(text)
  }

  /// The day that clocks show at a moment in relation to now.
  private func relativeDay(_ text: String) -> CalendarDay? {
    relativeMoment(text).map { CalendarDay(of: $0, offset: zone) }
  }

  private mutating func namedValue(
    _ word: String, _ column: Int
  ) throws(ConditionTextError) -> Value {
    switch word.uppercased() {
    case "NIL", "NULL": return .null
    case "TRUE", "YES": return .bool(true)
    case "FALSE", "NO": return .bool(false)
    case let kind where isAt("("):
      try advance()
      guard case .string(let text) = token.kind else { throw expected("a text in quotes") }
      guard let value = value(text, ofKind: kind) else {
        throw ConditionTextError(column: column, reason: "\(word)(…) of this text is no value")
      }
      try advance()
      try require(")")
      return value
    default: return try object(schema.entity(named: word)?.number, column)
    }
  }

  private func value(_ text: String, ofKind kind: String) -> Value? {
    switch kind {
    case "URL": return .url(text)
    case "JSON": return JSONText.firstError(in: text) == nil ? .json(text) : nil
    case "DOUBLE": return Double(text).map(Value.double)
    case "DECIMAL": return RawDecimal(text).map(Value.decimal)
    case "DAY": return CalendarDay(text).map(Value.day)
    case "DATA": return [UInt8](hexadecimal: text).map(Value.data)
    default: return nil
    }
  }

  /// The rest of an object's name behind its entity: `#5`, `#5@` with the store's UUID.
  private mutating func object(
    _ entity: EntityNumber?, _ column: Int
  ) throws(ConditionTextError) -> Value {
    guard isAt("#"), token.isAttached else {
      throw ConditionTextError(
        column: column, reason: "expected a value; a text stands in quotes, an object is Entity#5")
    }
    guard let entity, entity > 0 else {
      throw ConditionTextError(column: column, reason: "there is no entity of this name")
    }
    try advance()
    guard case .number(let text) = token.kind, let row = Int64(text), row > 0 else {
      throw expected("the number of a row")
    }
    try advance()
    if try consume("@") {
      guard case .uuid = token.kind else { throw expected("the UUID of a store") }
      try advance()
    }
    return .object(ObjectReference(entity: entity, row: row))
  }

  /// The moment of a date, with a time and an offset if it has them. A month or a year is no
  /// moment.
  private func moment(_ text: String) -> Timestamp? {
    guard let date = WrittenDate(text) else { return relativeMoment(text) }
    return date.day == nil ? nil : date.period(offset: zone).lowerBound
  }

  /// The moment of the token if it is a date in relation to now.
  private var relativeMoment: Timestamp? {
    switch token.kind {
    case .word(let text), .age(let text): relativeMoment(text)
    default: nil
    }
  }

  private func relativeMoment(_ text: String) -> Timestamp? {
    now.flatMap { RelativeDate.period(text, now: $0, offset: zone)?.lowerBound }
  }
}
