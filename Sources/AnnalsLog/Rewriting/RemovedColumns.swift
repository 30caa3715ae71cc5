import AnnalsFormat
import AnnalsModel

extension [EntityDirectory] {
  /// The directories without the chunks of removed properties and entities. For a later checkpoint
  /// in a file whose base, with this schema, has dropped those: states after that base do not have
  /// them.
  func withoutWhatIsRemoved(from schema: Schema) -> [EntityDirectory] {
    map { directory in
      guard let entity = schema.entity(numbered: directory.entity) else { return directory }
      var kept = directory
      if entity.isRemoved {
        kept.liveCount = 0
        kept.rows = []
        kept.columns = []
        kept.indexes = kept.indexes.map { IndexDirectory(rule: $0.rule, count: 0, chunks: []) }
      } else {
        let removed = entity.removedProperties
        kept.columns.removeAll { removed.contains($0.property) }
      }
      return kept
    }
  }
}
