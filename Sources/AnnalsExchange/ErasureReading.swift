import AnnalsFormat
import AnnalsModel

/// Reads the member `erased` of an exported transaction.
enum ErasureReading {
  /// The erasure in the member's text; nil if it is something else, or names what the schema does
  /// not have.
  static func erasure(in text: String, _ schema: Schema) -> Erasure? {
    let reader = JSONReader(MemorySource(Array(text.utf8)), framing: .document)
    var reason = ""
    var targets: [Erasure.Target] = []
    do throws(InputFault) {
      guard try reader.beginDocument() else { return nil }
      try reader.members(reader.next(), of: "what was erased") { name, value throws(InputFault) in
        switch name {
        case "reason": reason = try reader.text(value, of: name)
        case "objects":
          try reader.elements(value, of: name) { item throws(InputFault) in
            targets.append(try target(reader, item, schema))
          }
        default: return false
        }
        return true
      }
      try reader.endDocument()
    } catch {
      return nil
    }
    guard !reason.isEmpty, reason.utf8.count <= Erasure.longestReason, !targets.isEmpty,
      Set(targets.map(\.object)).count == targets.count
    else { return nil }
    return Erasure(targets, reason: reason)
  }

  private static func target(
    _ reader: JSONReader, _ token: JSONToken, _ schema: Schema
  ) throws(InputFault) -> Erasure.Target {
    var entityName = ""
    var row: Int64 = 0
    var names: [String]?
    try reader.members(token, of: "what was erased") { name, value throws(InputFault) in
      switch name {
      case "entity": entityName = try reader.text(value, of: name)
      case "row": row = try reader.whole(value, of: name)
      case "properties":
        var list: [String] = []
        try reader.elements(value, of: name) { item throws(InputFault) in
          list.append(try reader.text(item, of: name))
        }
        names = list
      default: return false
      }
      return true
    }
    guard let entity = schema.entity(named: entityName), row > 0, row <= FormatLimits.maximumRow
    else {
      throw reader.fault("there is no such object")
    }
    var properties: Set<PropertyNumber> = []
    for name in names ?? [] {
      guard let number = entity.propertyNumber(named: name), properties.insert(number).inserted
      else { throw reader.fault("there is no property `\(name)`") }
    }
    guard names?.isEmpty != true else { throw reader.fault("no property was erased") }
    return Erasure.Target(
      ObjectReference(entity: entity.number, row: row), properties: Array(properties))
  }
}
