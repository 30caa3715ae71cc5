import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import Foundation

// Conditions and sort keys as text, for what people type and what programs keep in files.

extension Condition {
  /// Reads a condition from text, such as `title BEGINSWITH[c] "mist" AND timestamp > 2019-10-01`:
  /// the form of `annals query --where`, a subset of the NSPredicate format. A condition's
  /// `description` is such a text.
  ///
  /// O(length × properties).
  ///
  /// - Parameters:
  ///   - text: at most 65,536 bytes.
  ///   - entity: the name of the entity whose objects are tested.
  ///   - schema: the schema with the entity, usually a store's or a snapshot's.
  ///   - zone: the zone of dates that do not name one, and of days.
  ///   - now: what `now`, `today`, `yesterday` and ages such as `7d` are read against, where a date
  ///     is compared. The condition has the moment, not the word.
  /// - Throws: `.invalidArgument` with the column of the first mistake, or if the schema does not
  ///   have the entity.
  public init(
    parsing text: String, of entity: String, in schema: Schema, zone: TimeZone = .gmt,
    now: Date = Date()
  ) throws(AnnalsError) {
    guard let now = Timestamp(exactly: now) else { throw .noDate }
    self = try AnnalsError.parsing(entity, schema) { (entity) throws(ConditionTextError) in
      try ConditionParser.parse(text, over: entity, in: schema, now: now) { moment in
        zone.secondsFromGMT(for: Date(moment))
      }
    }
  }
}

extension Condition {
  /// Throws `.invalidArgument` if conditions are nested so deep that using them could exhaust the
  /// stack.
  func requireUsableDepth() throws(AnnalsError) {
    guard depth > Condition.deepest else { return }
    throw AnnalsError(
      .invalidArgument,
      "the condition is nested \(depth) deep; the most is \(Condition.deepest). Many alternatives "
        + "of one property are `.isIn`; many conditions with one operator count once")
  }
}

extension SortKey {
  /// Reads sort keys from text, such as `-timestamp,title[c],place.name NILS LAST`: the form of
  /// `annals query --sort`. `[c]` ignores case, `[l]` sorts as the current locale does.
  ///
  /// Throws as `Condition.init(parsing:of:in:zone:now:)` does.
  public static func keys(
    parsing text: String, of entity: String, in schema: Schema
  ) throws(AnnalsError) -> [SortKey] {
    try AnnalsError.parsing(entity, schema) { (entity) throws(ConditionTextError) in
      try ConditionParser.parseSortKeys(text, over: entity, in: schema)
    }
  }
}

extension AnnalsError {
  /// Finds the entity and runs `parse` on it; translates a mistake in the text.
  fileprivate static func parsing<T>(
    _ name: String, _ schema: Schema, _ parse: (Entity) throws(ConditionTextError) -> T
  ) throws(AnnalsError) -> T {
    guard let entity = schema.entity(named: name) else { throw .unknownEntity(name, in: schema) }
    do throws(ConditionTextError) {
      return try parse(entity)
    } catch {
      throw AnnalsError(.invalidArgument, error.description)
    }
  }
}
