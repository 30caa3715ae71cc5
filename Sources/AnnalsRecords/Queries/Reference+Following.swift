import AnnalsEngine
import AnnalsModel

/// A source of objects: a `Snapshot`, or a `WriteTransaction` with its own changes. No other type
/// may conform.
public protocol ObjectSource {
  /// The object with this id as a record; nil if it does not exist.
  func object<R: Record>(_ type: R.Type, _ id: ObjectID) throws(AnnalsError) -> Object<R>?
  /// Opaque.
  func _query<R: Record>(_ type: R.Type) throws(AnnalsError) -> RecordQuery<R>
  /// Opaque.
  var _dynamicQuery: DynamicQuery { get throws(AnnalsError) }
}

extension Snapshot: ObjectSource {}

extension WriteTransaction: ObjectSource {}

extension ObjectSource {
  /// The object that a reference leads to: `try snapshot[event.place]`. Nil for no reference, and
  /// if the object does not exist. Throws as `object(_:_:)` does.
  public subscript<R: Record>(_ reference: Reference<R>?) -> Object<R>? {
    get throws(AnnalsError) {
      guard let reference else { return nil }
      return try object(R.self, reference.objectID)
    }
  }

  /// The objects that references lead to, in order, without those that do not exist. Throws as
  /// `object(_:_:)` does.
  public subscript<R: Record>(_ references: [Reference<R>]) -> [Object<R>] {
    get throws(AnnalsError) {
      var result: [Object<R>] = []
      for reference in references {
        if let object = try object(R.self, reference.objectID) { result.append(object) }
      }
      return result
    }
  }
}
