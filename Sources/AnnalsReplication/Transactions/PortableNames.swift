import AnnalsFormat
import AnnalsModel

/// The names of the entities and properties that a transaction changes or refers to, by their
/// numbers, as of just after it.
package struct PortableNames: Equatable, Sendable {
  /// One entity, and those of its properties that are changed.
  package struct EntityName: Equatable, Sendable {
    package var number: EntityNumber
    package var name: String
    /// Rising by number.
    package var properties: [(number: PropertyNumber, name: String)] = []

    package static func == (a: EntityName, b: EntityName) -> Bool {
      a.number == b.number && a.name.hasSameBytes(as: b.name)
        && a.properties.elementsEqual(b.properties) {
          $0.number == $1.number && $0.name.hasSameBytes(as: $1.name)
        }
    }
  }

  /// Rising by number.
  package private(set) var entities: [EntityName] = []

  /// No names.
  init() {}

  /// The names that the changes need, by a schema that has them all. O(changes).
  init(of parts: [ChangeBatch], in schema: Schema) {
    let used = PortableNames.numbers(in: parts)
    for (number, properties) in used.sorted(by: { $0.key < $1.key }) {
      guard let entity = schema.entity(numbered: number) else { continue }
      var named = EntityName(number: number, name: entity.name)
      for property in properties.sorted() {
        named.properties.append((property, entity.propertyName(property) ?? ""))
      }
      entities.append(named)
    }
  }

  /// The entities that changes touch or refer to, and those of their properties that change.
  static func numbers(in parts: [ChangeBatch]) -> [EntityNumber: Set<PropertyNumber>] {
    var used: [EntityNumber: Set<PropertyNumber>] = [:]
    func note(_ entity: EntityNumber) { if used[entity] == nil { used[entity] = [] } }
    for part in parts {
      part.arena.withUnsafeBytes { arena in
        for change in part.changes {
          note(change.entity)
          for property in part.properties[change.propertyRange] {
            used[change.entity, default: []].insert(property.property)
            for cell in [property.before, property.after] {
              cell.forEachEntity(in: arena, isEdits: property.isEdits, note)
            }
          }
        }
      }
    }
    return used
  }

  /// Whether these are the names of these numbers, and no others.
  func isExactly(_ numbers: [EntityNumber: Set<PropertyNumber>]) -> Bool {
    entities.count == numbers.count
      && entities.allSatisfy { numbers[$0.number] == Set($0.properties.map(\.number)) }
  }

  /// Where a schema has another name for a number; nil if it agrees. O(names · properties).
  package func misfit(in schema: Schema) -> String? {
    for named in entities {
      guard let entity = schema.entity(numbered: named.number) else {
        return "there is no entity \(named.number), \(named.name)"
      }
      guard entity.name.hasSameBytes(as: named.name) else {
        return "entity \(named.number) is \(entity.name), and not \(named.name)"
      }
      for (number, name) in named.properties {
        let own = entity.propertyName(number)
        guard own?.hasSameBytes(as: name) == true else {
          return "property \(number) of \(named.name) is \(own ?? "not there"), and not \(name)"
        }
      }
    }
    return nil
  }

  /// Appends a list of (number, name, list of (number, name)).
  func append(to bytes: inout ContiguousArray<UInt8>) {
    bytes.append(count: entities.count)
    for entity in entities {
      bytes.append(varInt: UInt64(entity.number))
      bytes.append(string: entity.name)
      bytes.append(count: entity.properties.count)
      for (number, name) in entity.properties {
        bytes.append(varInt: UInt64(number))
        bytes.append(string: name)
      }
    }
  }

  /// Reads the list. Numbers rise.
  init(_ reader: inout ByteReader) throws(DecodeFault) {
    let count = try reader.readCount(limit: FormatLimits.maximumChanges, minimumLength: 3)
    for _ in 0..<count {
      let number = try reader.readVarUInt32()
      guard number > entities.last?.number ?? 0 else {
        throw reader.invalid("names of entities out of order")
      }
      var entity = EntityName(number: number, name: try reader.readString())
      let limit = Int(FormatLimits.maximumPropertyNumber)
      for _ in 0..<(try reader.readCount(limit: limit, minimumLength: 2)) {
        let number = try reader.readVarUInt32()
        guard number > entity.properties.last?.number ?? 0 else {
          throw reader.invalid("names of properties out of order")
        }
        entity.properties.append((number, try reader.readString()))
      }
      entities.append(entity)
    }
  }
}

extension ValueCell {
  /// Calls `body` with the entity of each object that the value refers to.
  fileprivate func forEachEntity(
    in arena: UnsafeRawBufferPointer, isEdits: Bool, _ body: (EntityNumber) -> Void
  ) {
    switch tag {
    case .object: body(length)
    case .objects where isEdits:
      for edit in ListEdit.list(in: bytes(in: arena)) { body(edit.reference.entity) }
    case .objects:
      for reference in ObjectReference.list(in: bytes(in: arena)) { body(reference.entity) }
    default: break
    }
  }
}
