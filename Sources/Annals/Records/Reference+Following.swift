import AnnalsEngine
import AnnalsModel

extension Snapshot {
  /// The object that a reference leads to: `try snapshot[event.place]`; nil for no reference, and
  /// if the object does not exist in this state. Throws as `object(_:_:)` does.
  public subscript<R: Record>(_ reference: Reference<R>?) -> Object<R>? {
    get throws(AnnalsError) {
      guard let reference else { return nil }
      return try object(R.self, reference.objectID)
    }
  }

  /// The objects that references lead to, in their order, without those that do not exist in this
  /// state. Throws as `object(_:_:)` does.
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

extension WriteTransaction {
  /// The object that a reference leads to: `try tx[event.place]`; nil for no reference, and if the
  /// object does not exist.
  public subscript<R: Record>(_ reference: Reference<R>?) -> Object<R>? {
    get throws(AnnalsError) {
      guard let reference else { return nil }
      return try object(R.self, reference.objectID)
    }
  }

  /// The objects that references lead to, in their order, without those that do not exist.
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
