import AnnalsModel

/// A value, cut where it is long.
///
/// Small in memory: the texts of dates and objects are made where they are asked for.
package struct ShownValue: Sendable, Hashable {
  package let kind: ValueTag
  package private(set) var isCut: Bool?
  private var given = ""
  /// What `length`, `us` or `count` is; each kind has one of them at most.
  private var number: Int64?
  private var targets: [ShownObject]?

  /// A value of which the text is all there is.
  package init(_ kind: ValueTag, _ text: String) { (self.kind, given) = (kind, text) }

  /// A text or data of so many bytes, perhaps cut.
  init(_ kind: ValueTag, _ text: String, length: Int64, isCut: Bool) {
    (self.kind, given, number) = (kind, text, length)
    if isCut { self.isCut = true }
  }

  init(_ moment: Timestamp) { (kind, number) = (.date, moment.microseconds) }

  init(_ object: ShownObject) { (kind, targets) = (.object, [object]) }

  /// The first of so many objects.
  init(_ objects: [ShownObject], of count: Int) {
    (kind, targets, number) = (.objects, objects, Int64(count))
  }

  package var text: String {
    switch kind {
    case .date: return us.map { Timestamp(microseconds: $0).description } ?? given
    case .object: return object?.name ?? given
    case .objects:
      guard let targets, let count else { return given }
      let more = count > targets.count ? ", …" : ""
      return "[\(targets.map(\.name).joined(separator: ", "))\(more)]"
    default: return given
    }
  }

  /// The bytes of the whole value, of texts and data.
  package var length: Int64? { [.string, .url, .json, .data].contains(kind) ? number : nil }
  package var us: Int64? { kind == .date ? number : nil }
  package var object: ShownObject? { kind == .object ? targets?.first : nil }
  package var objects: [ShownObject]? { kind == .objects ? targets : nil }
  package var count: Int? { kind == .objects ? number.map { Int($0) } : nil }
}

extension ShownValue: Codable {
  private enum CodingKeys: CodingKey { case kind, text, length, isCut, us, object, objects, count }

  /// The names of the kinds, by their places.
  private static let names = ValueTag.allCases.map { "\($0)" }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let name = try values.decode(String.self, forKey: .kind)
    guard let place = ShownValue.names.firstIndex(of: name) else {
      throw DecodingError.dataCorruptedError(
        forKey: .kind, in: values, debugDescription: "not a kind")
    }
    kind = ValueTag.allCases[place]
    isCut = try values.decodeIfPresent(Bool.self, forKey: .isCut)
    given = try values.decode(String.self, forKey: .text)
    let key: CodingKeys = kind == .date ? .us : kind == .objects ? .count : .length
    number = try values.decodeIfPresent(Int64.self, forKey: key)
    targets =
      try values.decodeIfPresent(ShownObject.self, forKey: .object).map { [$0] }
      ?? values.decodeIfPresent([ShownObject].self, forKey: .objects)
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(ShownValue.names[Int(kind.place)], forKey: .kind)
    try values.encode(text, forKey: .text)
    try values.encodeIfPresent(length, forKey: .length)
    try values.encodeIfPresent(isCut, forKey: .isCut)
    try values.encodeIfPresent(us, forKey: .us)
    try values.encodeIfPresent(object, forKey: .object)
    try values.encodeIfPresent(objects, forKey: .objects)
    try values.encodeIfPresent(count, forKey: .count)
  }
}
