import Annals
import AnnalsModel

extension AttributeType {
  /// The values that a KEY on the command line may mean: the text as a value of this type. For
  /// `any`, the text itself, and each value of another kind that is written like it.
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

  /// Whether the type has a kind of values of its own, other than text.
  private var isKindOfItsOwn: Bool {
    switch self {
    case .int16, .int32, .string, .any: false
    case .bool, .int64, .double, .date, .uuid, .url, .data, .json, .decimal, .day: true
    }
  }
}
