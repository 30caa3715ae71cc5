import AnnalsModel

// Reads documents with a known set of members, each at most once, in any order.

extension JSONReader {
  /// Calls `body` with the name of each member of the object that begins with `token`, and the
  /// first token of its value. `body` reads the value, or returns false for an unknown name.
  ///
  /// - Throws: `InputFault` if it is not an object, and for an unknown or repeated name.
  package func members(
    _ token: JSONToken, of what: String,
    _ body: (_ name: String, _ value: JSONToken) throws(InputFault) -> Bool
  ) throws(InputFault) {
    guard token == .beginObject else { throw fault("\(what) is not an object") }
    var seen: Set<ContiguousArray<UInt8>> = []
    while try next() == .key {
      let name = String(decoding: text, as: UTF8.self)
      guard seen.insert(text).inserted else { throw fault("\(what) has two members `\(name)`") }
      guard try body(name, next()) else { throw fault("\(what) has no member `\(name)`") }
    }
  }

  /// Calls `body` with the first token of each element of the array that begins with `token`.
  /// `body` reads the element.
  package func elements(
    _ token: JSONToken, of what: String, _ body: (JSONToken) throws(InputFault) -> Void
  ) throws(InputFault) {
    guard token == .beginArray else { throw fault("`\(what)` is not an array") }
    while true {
      let item = try next()
      if item == .endArray { return }
      try body(item)
    }
  }

  /// The string of `token`.
  package func text(_ token: JSONToken, of what: String) throws(InputFault) -> String {
    guard token == .string else { throw fault("`\(what)` is not a string") }
    return String(decoding: text, as: UTF8.self)
  }

  /// The boolean of `token`.
  package func flag(_ token: JSONToken, of what: String) throws(InputFault) -> Bool {
    guard case .bool(let value) = token else { throw fault("`\(what)` is not true or false") }
    return value
  }

  /// The whole number of `token`.
  package func whole(_ token: JSONToken, of what: String) throws(InputFault) -> Int64 {
    guard token == .number, case .int(let value) = try number() else {
      throw fault("`\(what)` is not a whole number")
    }
    return value
  }

  /// The stable number of an entity or property in `token`.
  package func stableNumber(_ token: JSONToken) throws(InputFault) -> UInt32 {
    let value = try whole(token, of: "number")
    // The limit keeps tables by number small, whatever the input says.
    guard value > 0, value <= 1 << 20 else { throw fault("a number must be from 1 to 1,048,576") }
    return UInt32(value)
  }
}
