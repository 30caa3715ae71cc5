import AnnalsFormat
import AnnalsModel
import AnnalsStorage

// Values that are read from an input while they are written.

extension Draft {
  /// Sets an attribute of an object that exists to the bytes of an input. A value over 4 KiB is
  /// written ahead piece by piece; memory: a few pieces of 1 MiB.
  ///
  /// `tag` is the kind of the value; nil for that of the attribute, and data for one of any type.
  /// Throws `.invalidArgument` if the attribute cannot hold bytes or text, and what reading the
  /// input throws. Then nothing is changed, and the draft may go on.
  package mutating func set(
    _ attribute: Attribute, of object: ObjectReference, from input: ByteInput.Opened,
    as tag: ValueTag? = nil
  ) throws {
    guard let entity = schema.entity(numbered: object.entity) else { return }
    let tag = tag ?? attribute.type.tag ?? .data
    guard tag.isBytes, attribute.type.admits(tag) else {
      throw AnnalsError(
        .invalidArgument,
        "\(entity.name).\(attribute.name) is of type \(attribute.type), and only string, url, "
          + "data, json and any can be set from an input")
    }
    if attribute.derivation != nil {
      throw AnnalsError(
        .invalidArgument, "\(entity.name).\(attribute.name) is derived, and cannot be set")
    }
    let pieces = InputPieces(input, for: tag)
    try pieces.next()
    let stored: Value
    if pieces.isAtEnd {
      let given = Value(bytes: ContiguousArray(pieces.piece), tag: tag)
      let value = try normalised(given, of: attribute.number, of: entity, row: object.row)
      stored = try kept(value, in: attribute.number, row: object.row, of: object.entity)
    } else {
      let known = try known(attribute.number, of: object)
      stored = .large(try largeValue(pieces, tag, reusing: known))
    }
    try put(stored, in: attribute.number, row: object.row, of: object.entity)
    noteAssignment(of: attribute.number, row: object.row, of: object.entity)
    touch(object.entity, object.row)
  }

  /// The values that a property has, and had before the draft: one of them may be set again.
  func known(
    _ property: PropertyNumber, of object: ObjectReference
  ) throws(AnnalsError) -> [Value] {
    [try reader.state.value(of: object, property), try base.value(of: object, property)]
  }

  /// Writes the pieces, of which the first was read, ahead as a large value.
  private func largeValue(
    _ pieces: InputPieces, _ tag: ValueTag, reusing known: [Value]
  ) throws -> LargeValue {
    guard pieces.length == nil else { return try add(pieces, tag, reusing: known) }
    guard let spool = try largeValues.makeSpool() else {
      var bytes: ContiguousArray<UInt8> = []
      while true {
        bytes.append(contentsOf: pieces.piece)
        if pieces.isAtEnd { break }
        try pieces.next()
      }
      return try bytes.withBytes { bytes throws(AnnalsError) in
        try largeValues.value(of: bytes, tag: tag, reusing: known)
      }
    }
    while true {
      try AnnalsError.translating { try spool.append(pieces.piece) }
      if pieces.isAtEnd { break }
      try pieces.next()
    }
    let spooled = InputPieces(try ByteInput(spool).open(), for: .data)
    try spooled.next()
    return try add(spooled, tag, reusing: known)
  }

  /// As `largeValue`, of a known length.
  private func add(
    _ pieces: InputPieces, _ tag: ValueTag, reusing known: [Value]
  ) throws -> LargeValue {
    var isFirst = true
    return try largeValues.add(length: pieces.length ?? 0, tag: tag, reusing: known) { count in
      if !isFirst { try pieces.next(count) }
      isFirst = false
      return pieces.piece
    }
  }
}

extension WriteTransaction {
  /// Sets a property of an object to the bytes of an input, which is read once, from front to back,
  /// without being in memory as a whole: a file, a stream, or pieces that the program makes.
  ///
  ///     try tx.set("image", of: id, from: ByteInput(contentsOf: "fog.jpg"))
  ///
  /// The property is of type data, of any type, or of string, url or json for an input of UTF-8
  /// text. Values over 4 KiB are written to the log as they are read, others when the transaction
  /// is committed. Setting the bytes that the property has is no change. Memory: a few MiB; a json,
  /// and a value with rules, is read back whole when these are checked.
  ///
  /// Throws `.noSuchObject` if the object does not exist, `.invalidArgument` if the property does
  /// not, or cannot hold bytes, `.invalidInput` for a text that is not UTF-8 or an input of another
  /// length than it said, `.noSpace` if the disk is full, and what the input throws. Then nothing
  /// is changed, nothing of the value is left, and the transaction may go on. Traps if the input
  /// writes another large value in the same transaction while it is read.
  public func set(_ property: String, of id: ObjectID, from input: ByteInput) throws {
    let entity = try existing(id)
    guard let attribute = entity.attribute(named: property) else {
      let near = NearName.hint(property, among: entity.readableProperties.map(\.name))
      throw AnnalsError(
        .invalidArgument, "\(entity.name) has no attribute \(property)\(near)")
    }
    try set(attribute, of: id, from: input)
  }

  /// As the other form, by the attribute.
  package func set(_ attribute: Attribute, of id: ObjectID, from input: ByteInput) throws {
    let object = ObjectReference(entity: id.entity, row: id.row)
    try draft.set(attribute, of: object, from: try input.open())
  }
}
