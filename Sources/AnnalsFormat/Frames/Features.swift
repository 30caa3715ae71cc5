/// The features of a file, as bits: what it uses beyond what every engine of this version knows.
/// Those in its header, and those announced since, in frames and root slots.
///
/// FORMAT.md, "Features", has the rules.
package struct Features: Hashable, Sendable {
  /// The features that a reader must know.
  package var required: UInt64
  /// The features that a reader may ignore; a writer must know the upper half.
  package var optional: UInt64

  package init(required: UInt64 = 0, optional: UInt64 = 0) {
    self.required = required
    self.optional = optional
  }

  /// No feature.
  package static let none = Features()
  /// Consumers, which a writer must know.
  package static let consumers = Features(optional: 1 << 32)
  /// A retention policy, which a writer must know.
  package static let retention = Features(optional: 1 << 33)
  /// Tombstones, which a writer must know.
  package static let tombstones = Features(optional: 1 << 34)
  /// Delete rules and inverses, which a writer must know.
  package static let references = Features(optional: 1 << 35)
  /// Groups of transactions, and what transactions undo, which a writer must know.
  package static let undo = Features(optional: 1 << 36)
  /// Migrations, which a writer must know.
  package static let migrations = Features(optional: 1 << 37)
  /// Derived attributes, which a writer must know.
  package static let derivations = Features(optional: 1 << 38)
  /// Erased values. Bit 1, which a reader must know.
  package static let erasure = Features(required: 1 << 1)
  /// Decimals and days. Bit 2, which a reader must know.
  package static let decimalsAndDays = Features(required: 1 << 2)
  /// The features that this engine knows. Bit 0 of the required ones is reserved for encryption:
  /// bytes 256 to 511 of the header hold key slots.
  package static let known = consumers.union(retention).union(tombstones).union(erasure)
    .union(references).union(undo).union(migrations).union(derivations).union(decimalsAndDays)
  /// The half of `optional` that a writer must know.
  private static let writers: UInt64 = 0xFFFF_FFFF << 32

  /// What an engine may do with a file.
  package enum Permission: Hashable, Sendable {
    case everything
    /// It may read, and must not write: a writer must know these optional features.
    case reading(unknown: UInt64)
    /// It can do nothing: a reader must know these required features.
    case nothing(unknown: UInt64)
  }

  /// What this engine may do with a file of these features: the one place where that is decided.
  package var permission: Permission {
    let unread = required & ~Features.known.required
    if unread != 0 { return .nothing(unknown: unread) }
    let unwritten = optional & Features.writers & ~Features.known.optional
    return unwritten == 0 ? .everything : .reading(unknown: unwritten)
  }

  package var isEmpty: Bool { self == .none }

  /// Bits in words.
  package static func text(_ bits: UInt64) -> String {
    bits == 0 ? "none" : "bits 0x" + String(bits, radix: 16)
  }

  /// Whether all of the other's features are among these.
  package func contains(_ other: Features) -> Bool { union(other) == self }

  /// The features of both.
  package func union(_ other: Features) -> Features {
    Features(required: required | other.required, optional: optional | other.optional)
  }

  package mutating func formUnion(_ other: Features) { self = union(other) }

  /// Appends 16 bytes: the required and the optional ones.
  package func append(to bytes: inout ContiguousArray<UInt8>) {
    bytes.append(fixed: required)
    bytes.append(fixed: optional)
  }

  /// Reads 16 bytes, whatever they say.
  package init(_ reader: inout ByteReader) throws(DecodeFault) {
    required = try reader.read(UInt64.self)
    optional = try reader.read(UInt64.self)
  }

  /// Reads 16 bytes of something that is not to be judged further by an engine which does not know
  /// all that a reader must: then throws `unknownFeatures`.
  package init(readable reader: inout ByteReader) throws(DecodeFault) {
    let start = reader.offset
    try self.init(&reader)
    if case .nothing(let bits) = permission { throw .unknownFeatures(at: start, bits) }
  }

  /// Reads the payload of a frame that announces features. Throws `unknownFeatures` if a reader
  /// must know more. Ignores what follows the two words: a later version that needs it there sets
  /// their highest bit.
  package init(
    announcement payload: UnsafeRawBufferPointer, flags: FrameFlags
  ) throws(DecodeFault) {
    var reader = ByteReader(payload)
    try self.init(readable: &reader)
    guard !isEmpty else { throw .invalid(at: 0, reason: "an announcement of nothing") }
    guard flags.contains(.skippable) == (required == 0) else {
      throw .invalid(at: 0, reason: "an announcement that may be skipped if no reader needs it")
    }
  }
}

extension Features: CustomStringConvertible {
  package var description: String {
    let parts = [("required", required), ("optional", optional)].filter { $0.1 != 0 }
    return parts.map { "\($0.0) \(Features.text($0.1))" }.joined(separator: ", ")
  }
}
