import Annals
import AnnalsModel

/// The properties of an entity by the bytes of their names, for a fast look-up per member.
final class EntityPlan {
  enum Property {
    case attribute(PlannedAttribute)
    case relationship(Relationship)
  }

  /// An attribute that lines set. A class: a copy of the definition counts a dozen references.
  final class PlannedAttribute {
    let attribute: Attribute
    /// The type in the lines, if it is another.
    let written: AttributeType?

    init(_ attribute: Attribute, written: AttributeType?) {
      self.attribute = attribute
      self.written = written
    }
  }

  /// The entity as of when the plan was made, without attributes added since.
  let entity: Entity
  /// The attribute that `id` names; nil if there is none.
  let keyAttribute: Attribute?
  /// The type of `id` in the lines, if it is another than the attribute's.
  private let writtenKeyType: AttributeType?
  /// The default values of a new object, of attributes that the lines do not know.
  let defaults: [(property: PropertyNumber, value: Value)]
  private var names: [ContiguousArray<UInt8>] = []
  private var properties: [Property] = []
  private var places: [ContiguousArray<UInt8>: Int] = [:]
  /// The index of the last property found: objects name theirs in nearly the same order.
  private var last = 0

  /// The plan of an entity of a store. `exported` is its definition in the lines, if they have one.
  init(_ entity: Entity, exported: Entity? = nil) {
    self.entity = entity
    let known = NameIndex(
      (exported?.attributes ?? []).lazy.map { $0.isRemoved ? "" : $0.name })
    func written(_ attribute: Attribute) -> AttributeType? {
      guard let exported, let place = known[attribute.name],
        exported.attributes[place].type != attribute.type
      else { return nil }
      return exported.attributes[place].type
    }
    let key = exported?.keyAttribute.flatMap { entity.attribute(named: $0.name) }
    keyAttribute = key ?? entity.keyAttribute
    writtenKeyType = keyAttribute.flatMap { written($0) }
    let own = Set(entity.attributes.lazy.filter { known[$0.name] == nil }.map(\.number))
    defaults = exported == nil ? entity.defaults : entity.defaults.filter { own.contains($0.0) }
    for attribute in entity.attributes where !attribute.isRemoved {
      let planned = PlannedAttribute(attribute, written: written(attribute))
      add(attribute.name, .attribute(planned))
    }
    for relationship in entity.relationships where !relationship.isRemoved {
      add(relationship.name, .relationship(relationship))
    }
  }

  /// Adds an attribute, or replaces its definition.
  func add(_ attribute: Attribute) {
    add(attribute.name, .attribute(PlannedAttribute(attribute, written: nil)))
  }

  private func add(_ name: String, _ property: Property) {
    let bytes = ContiguousArray(name.utf8)
    if let place = places[bytes] {
      properties[place] = property
      return
    }
    places[bytes] = names.count
    names.append(bytes)
    properties.append(property)
  }

  /// The property of this name; nil if there is none.
  func find(_ name: ContiguousArray<UInt8>) -> Property? {
    for guess in last..<min(last + 3, names.count) where names[guess] == name {
      last = guess
      return properties[guess]
    }
    guard let place = places[name] else { return nil }
    last = place
    return properties[place]
  }

  /// The key of an `id`, in the type of the key attribute.
  func key(_ id: Value, _ reader: JSONReader) throws(InputFault) -> Value {
    guard let attribute = keyAttribute else {
      throw reader.fault("\(entity.name) has no unique attribute; say `row` instead of `id`")
    }
    do throws(ValueTextFault) {
      let id = try writtenKeyType?.value(from: id) ?? id
      if let key = try attribute.type.value(from: id), !key.isNull { return key }
      // A number may be given as text.
      if case .string(let text) = id, let key = attribute.type.value(fromText: text) { return key }
    } catch {
      throw reader.fault("`id` of \(entity.name): \(error)")
    }
    throw reader.fault(
      "`id` of \(entity.name) is \(id.plainText), which is not of type "
        + "\(attribute.type)"
    )
  }
}
