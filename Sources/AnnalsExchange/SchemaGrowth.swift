import Annals
import AnnalsModel

/// What lines may add to the schema of a store that has one. Each closure returns why not; nil to
/// allow it.
package struct SchemaGrowth {
  /// Whether an entity of this name may be added to the schema.
  package var entity: (String, Schema) -> String?
  /// Whether an attribute of this name may be added to the entity.
  package var attribute: (String, Entity) -> String?
  /// Whether an attribute of the entity may become one of any type for this value.
  package var widening: (Attribute, Entity, Value) -> String?

  /// The permissions that these closures give.
  package init(
    entity: @escaping (String, Schema) -> String? = { _, _ in nil },
    attribute: @escaping (String, Entity) -> String? = { _, _ in nil },
    widening: @escaping (Attribute, Entity, Value) -> String?
  ) {
    self.entity = entity
    self.attribute = attribute
    self.widening = widening
  }
}
