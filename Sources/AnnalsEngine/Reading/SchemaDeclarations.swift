import AnnalsModel
import AnnalsStorage

/// What the program has declared in one opening of a store: its edits of the schema, and what it
/// requires. By this a second declaration of an edit is told from the first one of a second run.
package final class SchemaDeclarations: Sendable {
  private struct Content {
    var edits: [(edit: SchemaEdit, count: Int)] = []
    var required: [Schema] = []
  }

  private let content = Locked(Content())

  /// Nothing declared yet.
  package init() {}

  /// How often an edit was declared. A removal of what the program itself has asked for before
  /// counts as one more than any store has made: no program that declares its edits in every run
  /// means that.
  package func timesDeclared(_ edit: SchemaEdit) -> Int {
    content.withLock { content in
      let count = content.edits.first { $0.edit.isSame(as: edit) }?.count ?? 0
      let isAskedFor = content.required.contains { $0.has(whatIsRemovedBy: edit) }
      return isAskedFor ? SchemaDeclarations.more : count
    }
  }

  /// More than any store has made of one edit.
  private static let more = 1 << 32

  /// Remembers declared edits.
  package func note(_ edits: [SchemaEdit]) {
    guard !edits.isEmpty else { return }
    content.withLock { content in
      for edit in edits {
        if let place = content.edits.firstIndex(where: { $0.edit.isSame(as: edit) }) {
          content.edits[place].count += 1
        } else {
          content.edits.append((edit, 1))
        }
        for place in content.required.indices { content.required[place].leaveOut(edit) }
      }
    }
  }

  /// Remembers a required schema: the first one, and those that changed the store's.
  package func note(_ required: Schema, hasEffect: Bool) {
    guard !required.entities.isEmpty else { return }
    content.withLock { content in
      if hasEffect || content.required.isEmpty { content.required.append(required) }
    }
  }
}

extension Schema {
  /// Whether the schema has what an edit removes.
  fileprivate func has(whatIsRemovedBy edit: SchemaEdit) -> Bool {
    switch edit {
    case .removeEntity(let name): entity(named: name) != nil
    case .removeProperty(let entity, let name):
      self.entity(named: entity)?.attribute(named: name) != nil
        || self.entity(named: entity)?.relationship(named: name) != nil
    case .renameEntity, .renameProperty, .removeIndex: false
    }
  }

  /// Forgets what an edit removes.
  fileprivate mutating func leaveOut(_ edit: SchemaEdit) {
    switch edit {
    case .removeEntity(let name): entities.removeAll { $0.name.hasSameBytes(as: name) }
    case .removeProperty(let entity, let name):
      for place in entities.indices where entities[place].name.hasSameBytes(as: entity) {
        entities[place].attributes.removeAll { $0.name.hasSameBytes(as: name) }
        entities[place].relationships.removeAll { $0.name.hasSameBytes(as: name) }
      }
    case .renameEntity, .renameProperty, .removeIndex: return
    }
  }
}
