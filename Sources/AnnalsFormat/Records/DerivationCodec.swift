import AnnalsModel

/// How an attribute is derived, as an item of its extension area: FORMAT.md, "Derived attributes".
package enum DerivationCodec {
  /// Reads the item of an attribute's area, if there is one. Returns the other items; a kind that
  /// only later versions know stays among them.
  static func adopt(
    _ area: ContiguousArray<UInt8>, into attribute: inout Attribute, at place: ByteReader
  ) throws(DecodeFault) -> ContiguousArray<UInt8> {
    try ExtensionArea.rest(of: area) { (tag, bytes) throws(DecodeFault) in
      guard tag == ExtensionArea.derivation, let derivation = try decode(bytes, at: place)
      else { return false }
      attribute.derivation = derivation
      return true
    }
  }

  /// The area of an attribute.
  static func area(of attribute: Attribute) -> ContiguousArray<UInt8> {
    guard let derivation = attribute.derivation, derivation.kind != .removed else {
      return attribute.extensions
    }
    return ExtensionArea.adding(
      ExtensionArea.derivation, bytes(of: derivation), to: attribute.extensions)
  }

  private static func bytes(of derivation: Derivation) -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = [derivation.kind.rawValue]
    if derivation.aggregate != nil {
      bytes.append(varInt: UInt64(derivation.sourceEntity))
      bytes.append(varInt: UInt64(derivation.source))
    } else if derivation.kind == .function {
      bytes.append(varInt: UInt64(clamping: derivation.version))
    }
    bytes.append(count: derivation.inputs.count)
    for input in derivation.inputs { bytes.append(varInt: UInt64(input.number)) }
    return bytes
  }

  /// Nil for a kind that only later versions know.
  private static func decode(
    _ bytes: ContiguousArray<UInt8>, at place: ByteReader
  ) throws(DecodeFault) -> Derivation? {
    try bytes.withBytes { (bytes) throws(DecodeFault) -> Derivation? in
      var reader = ByteReader(bytes)
      let code = try reader.readUInt8()
      guard code > 0 else { throw place.invalid("a derivation that is none") }
      guard let kind = Derivation.Kind(rawValue: code) else { return nil }
      var derivation = Derivation(kind)
      if derivation.aggregate != nil {
        derivation.sourceEntity = try reader.readVarUInt32()
        derivation.source = try reader.readVarUInt32()
      } else if kind == .function {
        guard let version = Int64(exactly: try reader.readVarInt()), version > 0 else {
          throw place.invalid("a version of a function that none has")
        }
        derivation.version = version
      }
      let count = try reader.readCount(limit: Int(FormatLimits.maximumPropertyNumber))
      for _ in 0..<count {
        derivation.inputs.append(Derivation.Input("", number: try reader.readVarUInt32()))
      }
      try reader.expectEnd()
      return derivation
    }
  }
}
