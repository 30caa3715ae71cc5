extension Value: CustomStringConvertible {
  /// The kind and the value: `string("Fog")`, `object(entity 1, row 3)`. Bytes are counted only.
  public var description: String {
    switch self {
    case .null: "null"
    case .erased: "erased"
    case .bool(let flag): "bool(\(flag))"
    case .int(let number): "int(\(number))"
    case .double(let number): "double(\(number))"
    case .string(let text): "string(\(text.debugDescription))"
    case .date(let moment): "date(\(moment))"
    case .uuid(let uuid): "uuid(\(uuid))"
    case .url(let text): "url(\(text.debugDescription))"
    case .data(let bytes): "data(\(bytes.count) bytes)"
    case .json(let text): "json(\(text.debugDescription))"
    case .object(let object): "object(entity \(object.entity), row \(object.row))"
    case .objects(let list):
      "objects(\(list.map { "entity \($0.entity), row \($0.row)" }.joined(separator: "; ")))"
    case .large(let large): "large(\(large.tag) of \(large.length) bytes)"
    }
  }
}
