import AnnalsExchange

extension Output {
  /// Writes the bytes of a writer, and empties it.
  func drain(_ json: inout JSONWriter) throws {
    try write(json.bytes)
    json.removeBytes()
  }

  /// Writes an object on a line.
  func object(_ members: (inout JSONWriter) throws -> Void) throws {
    var json = JSONWriter()
    json.beginObject()
    try members(&json)
    json.endObjectLine()
    try write(json.bytes)
  }
}
