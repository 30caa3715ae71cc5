import AnnalsEngine
import AnnalsModel
import AnnalsState

// Adding to the schema one entity or attribute at a time, for tools that discover them: each costs
// no more than itself.

extension WriteTransaction {
  /// Adds an entity with a new name, and returns it with its numbers.
  ///
  /// - Throws: `.invalidSchema` for an invalid name, or if there are too many entities.
  package func append(_ entity: Entity) throws(AnnalsError) -> Entity {
    checkOpen()
    do throws(SchemaError) {
      let added = try reader.state.append(entity)
      changedEntities.insert(added.number)
      return added
    } catch {
      throw .invalidSchema(error)
    }
  }

  /// Adds an attribute with a new name to the entity, and returns it with its number.
  ///
  /// - Throws: `.invalidSchema` for an invalid name, or if there are too many attributes.
  package func append(
    _ attribute: Attribute, to entity: EntityNumber
  ) throws(AnnalsError) -> Attribute {
    checkOpen()
    do throws(SchemaError) {
      let added = try reader.state.append(attribute, to: entity)
      changedEntities.insert(entity)
      return added
    } catch {
      throw .invalidSchema(error)
    }
  }

  /// Widens an attribute that is not unique to any type.
  package func widen(_ attribute: PropertyNumber, of entity: EntityNumber) {
    checkOpen()
    reader.state.widen(attribute, of: entity)
    changedEntities.insert(entity)
  }
}
