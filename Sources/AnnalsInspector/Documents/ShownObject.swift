import AnnalsModel

/// An object, as a link.
package struct ShownObject: Sendable, Hashable {
  /// `Entity/KEY` where there is a key.
  package var name: String
  package var entity: String
  package var row: Int64
  package var label: String?
  package var exists: Bool

  /// `Entity#ROW`, which never changes.
  package var id: String { "\(entity)#\(row)" }
}

extension ShownObject: Codable {
  private enum CodingKeys: CodingKey { case id, name, entity, row, label, exists }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    name = try values.decode(String.self, forKey: .name)
    entity = try values.decode(String.self, forKey: .entity)
    row = try values.decode(Int64.self, forKey: .row)
    label = try values.decodeIfPresent(String.self, forKey: .label)
    exists = try values.decode(Bool.self, forKey: .exists)
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(id, forKey: .id)
    try values.encode(name, forKey: .name)
    try values.encode(entity, forKey: .entity)
    try values.encode(row, forKey: .row)
    try values.encodeIfPresent(label, forKey: .label)
    try values.encode(exists, forKey: .exists)
  }
}

/// A moment: in JSON its text, which is made there alone.
package struct ShownTime: Codable, Sendable, Hashable {
  private let moment: Timestamp

  init(_ moment: Timestamp) { self.moment = moment }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.singleValueContainer()
    guard let moment = Timestamp(try values.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: values, debugDescription: "not a moment")
    }
    self.moment = moment
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.singleValueContainer()
    try values.encode(moment.description)
  }
}
