import Annals
import AnnalsModel

extension AttributeType {
  /// The values that may have been meant by a KEY: what a text stands for in an attribute of the
  /// type; in one of type `any` the text itself, and each value of another kind that is written so.
  package func keys(fromText text: String) -> [Value] {
    guard self == .any else { return value(fromText: text).map { [$0] } ?? [] }
    var keys = [Value.string(text)]
    for type in AttributeType.allCases where type.isKindOfItsOwn {
      guard let value = type.value(fromText: text),
        value.plainText.hasSameBytes(as: text)
      else { continue }
      keys.append(value)
    }
    return keys
  }

  /// Whether values of the type have a kind that no type before has, and that is not text.
  private var isKindOfItsOwn: Bool {
    switch self {
    case .int16, .int32, .string, .any: false
    case .bool, .int64, .double, .date, .uuid, .url, .data, .json: true
    }
  }
}
