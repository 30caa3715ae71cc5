import Annals
import AnnalsFormat
import AnnalsModel

extension ChangeReading {
  /// Stores a text of more than 4 KiB as the value of the attribute straight from the reader, which
  /// holds its only copy. Returns nil, and stores nothing, for every other value, and for a text
  /// that is no value of the attribute.
  func largeValue(
    _ token: JSONToken, of attribute: Attribute, written: AttributeType?,
    _ object: ObjectReference, _ reader: JSONReader
  ) throws -> Value? {
    let type = written ?? attribute.type
    // Base64 is a third longer than its bytes.
    let least = type == .data ? LargeValue.threshold / 3 * 4 + 4 : LargeValue.threshold
    guard token == .string, reader.text.count > least, !attribute.isUnique,
      type == attribute.type || attribute.type == .any
    else { return nil }
    switch type {
    case .string, .any: return try store(reader.text, .string, of: attribute, object)
    case .url: return try store(reader.text, .url, of: attribute, object)
    case .json:
      guard reader.text.withUnsafeBytes(JSONText.firstError(in:)) == nil else { return nil }
      return try store(reader.text, .json, of: attribute, object)
    case .data:
      guard Base64Text.decode(&reader.text) else { return nil }
      return try store(reader.text, .data, of: attribute, object)
    default: return nil
    }
  }

  /// Whether a long string is a value of the attribute that need not be in memory as a whole. JSON
  /// is checked first, and a unique value cannot be long.
  func canBeRead(inParts attribute: Attribute, written: AttributeType?) -> Bool {
    guard !attribute.isUnique, attribute.derivation == nil else { return false }
    let type = written ?? attribute.type
    guard type == attribute.type || attribute.type == .any else { return false }
    return type == .string || type == .url || type == .data || type == .any
  }

  /// Stores the string of which the reader has the first part, part by part, as the value of an
  /// attribute.
  func store(
    partsOf reader: JSONReader, in attribute: Attribute, written: AttributeType?,
    _ object: ObjectReference
  ) throws {
    let type = written ?? attribute.type
    let tag = type.tag ?? .string
    var text = StringParts(reader)
    let name = "\(current(named: object)).\(attribute.name)"
    let input = ByteInput.Opened(length: nil) { buffer in
      guard tag == .data else { return try text.read(into: buffer) }
      return try text.decode(into: buffer) {
        reader.fault("\(name) is of type \(type), and the text is no such value")
      }
    }
    try transaction.draft.set(attribute, of: object, from: input, as: tag)
    reader.partLength = .max
  }

  private func current(named object: ObjectReference) -> String {
    transaction.schema.entity(numbered: object.entity)?.name ?? "#\(object.entity)"
  }

  private func store(
    _ bytes: ContiguousArray<UInt8>, _ tag: ValueTag, of attribute: Attribute,
    _ object: ObjectReference
  ) throws(AnnalsError) -> Value {
    try transaction.draft.keep(bytes, tag, in: attribute.number, of: object)
  }
}

/// The bytes of a string that its reader hands out in parts.
private struct StringParts {
  private let reader: JSONReader
  /// How many bytes of the part were used.
  private var used = 0
  /// What was decoded and not handed out yet.
  private var decoded: ContiguousArray<UInt8>.SubSequence = []
  /// Whether digits are padded, so that nothing may follow.
  private var isPadded = false

  init(_ reader: JSONReader) { self.reader = reader }

  /// Makes sure that there is something to use; returns false at the end.
  private mutating func advance() throws(InputFault) -> Bool {
    while used == reader.text.count {
      guard reader.isWithinString else { return false }
      try reader.readNextPart()
      used = 0
    }
    return true
  }

  mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputFault) -> Int {
    guard try advance() else { return 0 }
    let count = min(buffer.count, reader.text.count - used)
    buffer.copyBytes(from: reader.text[used..<used + count])
    used += count
    return count
  }

  /// As `read(into:)`, but decodes base64. Throws `fault()` for anything else.
  mutating func decode(
    into buffer: UnsafeMutableRawBufferPointer, _ fault: () -> InputFault
  ) throws(InputFault) -> Int {
    if decoded.isEmpty { try decodeNext(fault) }
    let count = min(buffer.count, decoded.count)
    buffer.copyBytes(from: decoded.prefix(count))
    decoded = decoded.dropFirst(count)
    return count
  }

  private mutating func decodeNext(_ fault: () -> InputFault) throws(InputFault) {
    var digits: ContiguousArray<UInt8> = []
    while digits.count < StringParts.digitsAtOnce, try advance() {
      let count = min(StringParts.digitsAtOnce - digits.count, reader.text.count - used)
      digits.append(contentsOf: reader.text[used..<used + count])
      used += count
    }
    guard digits.isEmpty || !isPadded else { throw fault() }
    isPadded = digits.last == UInt8(ascii: "=")
    guard Base64Text.decode(&digits) else { throw fault() }
    decoded = digits[...]
  }

  private static let digitsAtOnce = 64 << 10
}
