#if JetStream

import AnnalsReplication

// Objects: `<root>.pieces.<name>.<index>` has a piece, `<root>.objects.<name>` completes it.

extension JetStreamLog {
  /// Stores a piece; see `SharedLog`.
  public func put(
    _ piece: [UInt8], at index: Int, of object: String
  ) async throws(SharedLogError) {
    try requireName(object)
    _ = try await ready()
    guard piece.count <= longestPiece else { throw .tooLong(limit: longestPiece) }
    try await store(piece, as: names.subject(of: index, ofObject: object))
  }

  /// Completes an object; see `SharedLog`.
  public func complete(_ object: SharedObject) async throws(SharedLogError) {
    try requireName(object.name)
    _ = try await ready()
    try await store(object.described, as: names.subject(ofObject: object.name))
  }

  /// The objects; see `SharedLog`. A round trip, and one for each 16 objects.
  public func objects(beginning prefix: String) async throws(SharedLogError) -> [SharedObject] {
    _ = try await ready()
    let found = try await objectNames().filter { $0.hasPrefix(prefix) }.sorted()
    var objects: [SharedObject] = []
    var rest = found[...]
    while !rest.isEmpty {
      let some = Array(rest.prefix(16))
      rest = rest.dropFirst(some.count)
      let answers = try await atOnce(some) { name throws(SharedLogError) in
        try await self.object(name)
      }
      objects += answers.compactMap { $0 }
    }
    return objects
  }

  /// Pieces of an object; see `SharedLog`. Two round trips, at once, and one or two more for those
  /// of a range of which the one before it was not the last that was asked for.
  public func pieces(
    _ range: Range<Int>, of object: SharedObject
  ) async throws(SharedLogError) -> [[UInt8]] {
    try requireName(object.name)
    let generation = try await ready()
    let parts = try await atOnce([true, false]) { asksForPieces throws(SharedLogError) in
      if asksForPieces { return await self.pull(range, of: object.name, generation) }
      return try await self.object(object.name) == object ? [[]] : []
    }
    let isThere = !parts[1].isEmpty
    if isThere, !parts[0].isEmpty { return parts[0] }
    // One; or the consumer failed, or its server lags. The leader has it.
    guard isThere, let piece = try await piece(range.lowerBound, of: object.name) else {
      throw .missing("piece \(range.lowerBound) of \(object.name)")
    }
    return [piece.bytes]
  }

  /// Removes an object; see `SharedLog`.
  public func remove(object name: String) async throws(SharedLogError) {
    try requireName(name)
    _ = try await ready()
    // Nobody may see it without its pieces.
    try await purge(names.objects, "{\"filter\":\"\(names.subject(ofObject: name))\"}")
    try await purge(names.objects, "{\"filter\":\"\(names.subject(of: "*", ofObject: name))\"}")
  }

  /// Drops records; see `SharedLog`.
  public func trim(before sequence: UInt64) async throws(SharedLogError) {
    _ = try await ready()
    let ends = try await ends()
    // A purge beyond the end would move the end.
    let start = min(sequence, ends.last + 1)
    guard start > ends.first else { return }
    try await purge(names.records, "{\"seq\":\(start)}")
  }

  // MARK: Parts

  /// A piece; nil if there is none such.
  private func piece(
    _ index: Int, of object: String
  ) async throws(SharedLogError) -> StoredMessage? {
    let subject = names.subject(of: index, ofObject: object)
    return try await message(of: names.objects, "{\"last_by_subj\":\"\(subject)\"}")
  }

  /// The pieces of a range, or some of them from its beginning, or none if it is one, or the
  /// consumer fails.
  private func pull(
    _ range: Range<Int>, of object: String, _ generation: UInt64
  ) async -> [[UInt8]] {
    guard range.count > 1 else { return [] }
    let page = ReaderPage(
      stream: names.objects, filter: names.subject(of: "*", ofObject: object),
      first: UInt64(range.lowerBound), count: range.count, waits: false)
    let messages = await pull(page, generation) {
      if range.lowerBound == 0 { return 1 }
      return try? await self.piece(range.lowerBound, of: object)?.sequence
    } next: { messages in
      let isWhole = messages.map(\.index).elementsEqual(range.map { $0 })
      return isWhole ? UInt64(range.upperBound) : nil
    }
    // One that was put again comes late.
    return zip(messages, range).prefix { $0.index == $1 }.map(\.0.bytes)
  }

  private func requireName(_ name: String) throws(SharedLogError) {
    let isName =
      !name.isEmpty && name.utf8.count <= 128
      && name.split(separator: "/", omittingEmptySubsequences: false)
        .allSatisfy { $0.isEmpty || String($0).isName }
    guard isName else { throw .refused("\(name) is no name of an object") }
  }

  /// Publishes a message to the stream of objects, in place of the one of the same subject.
  private func store(_ bytes: [UInt8], as subject: String) async throws(SharedLogError) {
    let answer: ServerAnswer
    do {
      answer = try await request(subject, bytes)
    } catch {
      throw error.ofWriting(longestPiece)
    }
    if let error = answer.error { throw error.asLogError }
    guard answer.json["stream"]?.text == names.objects else {
      throw .refused("the stream \(answer.json["stream"]?.text ?? "?") has taken the piece")
    }
  }

  private func purge(_ stream: String, _ request: String) async throws(SharedLogError) {
    let answer: ServerAnswer
    do {
      answer = try await self.request("\(names.api).STREAM.PURGE.\(stream)", Array(request.utf8))
    } catch {
      throw error.ofWriting(longestPiece)
    }
    if let error = answer.error { throw error.asLogError }
    guard answer.json["success"]?.isTrue == true else {
      throw .unknownOutcome("the server does not say that it purged \(stream)")
    }
  }

  /// The names of all complete objects.
  private func objectNames() async throws(SharedLogError) -> [String] {
    let root = names.subject(ofObject: "")
    var found: Set<String> = []
    while true {
      // Servers answer with 100,000 subjects at most.
      let answer = try await ask(
        "STREAM.INFO.\(names.objects)",
        "{\"subjects_filter\":\"\(root)*\",\"offset\":\(found.count)}")
      if let error = answer.error { throw error.asLogError }
      let subjects = answer.json["state"]?["subjects"]?.values ?? [:]
      let before = found.count
      for subject in subjects.keys where subject.hasPrefix(root) {
        found.insert(String(subject.dropFirst(root.count)))
      }
      let total: Int = answer.json["total"]?.number() ?? 0
      if found.count >= total || found.count == before { return Array(found) }
    }
  }

  /// An object by its name; nil if there is none, or it is not complete.
  private func object(_ name: String) async throws(SharedLogError) -> SharedObject? {
    let json = "{\"last_by_subj\":\"\(names.subject(ofObject: name))\"}"
    guard let message = try await message(of: names.objects, json) else { return nil }
    guard let object = SharedObject(described: message.bytes), object.name == name else {
      throw .refused("the description of the object \(name) cannot be read")
    }
    return object
  }
}

extension SharedObject {
  /// The description as JSON: for tools that look into the stream, too.
  fileprivate var described: [UInt8] {
    Array(
      """
      {"name":"\(name)","length":\(length),"piece_length":\(pieceLength),"digest":"\(digest)",\
      "details":"\(details.map { hexadecimal[Int($0)] }.joined())"}
      """.utf8)
  }

  fileprivate init?(described bytes: [UInt8]) {
    guard let json = JSON(bytes), let name = json["name"]?.text,
      let length = json["length"]?.number(as: UInt64.self),
      let pieceLength = json["piece_length"]?.number(as: Int.self), pieceLength >= 0,
      let digest = json["digest"]?.text.flatMap({ Digest($0) }), let digits = json["details"]?.text
    else { return nil }
    var details: [UInt8] = []
    var rest = Array(digits.utf8)[...]
    while !rest.isEmpty {
      guard let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      details.append(byte)
      rest = rest.dropFirst(2)
    }
    self.init(
      name: name, length: length, pieceLength: pieceLength, digest: digest, details: details)
  }
}

/// The bytes from 0 to 255 in two digits each.
private let hexadecimal = (0..<256).map { number in
  (number < 16 ? "0" : "") + String(number, radix: 16)
}

#endif
