import AnnalsEngine
import AnnalsModel
import AnnalsState

// The schema as it grows while a tool meets entities and attributes one by one: each costs no more
// than itself.

extension WriteTransaction {
  /// Adds an entity of a name that the schema does not have, and returns it with its numbers.
  ///
  /// - Throws: `.invalidSchema` for a bad name, or if there are too many.
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

  /// Adds an attribute of a name that the entity does not have, and returns it with its number.
  ///
  /// - Throws: `.invalidSchema` for a bad name, or if there are too many.
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

  /// Makes an attribute that is not unique one of any type.
  package func widen(_ attribute: PropertyNumber, of entity: EntityNumber) {
    checkOpen()
    reader.state.widen(attribute, of: entity)
    changedEntities.insert(entity)
  }
}
