import Annals
import Foundation
import Measuring
import Workload

/// The ways in which a program can write.
enum Form: String {
  /// Typed records, inserted whole and changed property by property.
  case typed
  /// Typed records, changed by closures.
  case closures
  /// Dictionaries of values by name, for programs that learn the schema at run time.
  case dynamic
}

/// Writes the workload's operations to a store, and knows the ids of its objects.
struct PostWriter {
  let form: Form
  /// The id of each object, from the workload's number 1 on.
  private(set) var ids: [ObjectID] = []

  init(form: Form, capacity: Int) {
    self.form = form
    ids.reserveCapacity(capacity)
  }

  /// Inserts the next object.
  mutating func insert(_ post: WorkloadPost, _ transaction: WriteTransaction) throws {
    switch form {
    case .typed, .closures: ids.append(try transaction.insert(PostRecord(post)).objectID)
    case .dynamic: ids.append(try transaction.insert("Post", post.values(.ofNewPost)))
    }
  }

  /// Performs an operation.
  mutating func perform(
    _ operation: Workload.Operation, _ transaction: WriteTransaction
  ) throws {
    switch operation.kind {
    case .insert: try insert(operation.post, transaction)
    case .delete: try transaction.delete(ids[operation.object - 1])
    case .update:
      let id = ids[operation.object - 1]
      switch form {
      case .typed:
        try PostRecord.set(operation.properties, of: id, from: operation.post, transaction)
      case .closures:
        try transaction.update(PostRecord.self, id) {
          $0.copy(operation.properties, from: operation.post)
        }
      case .dynamic: try transaction.update(id, operation.post.values(operation.properties))
      }
    }
  }
}

extension WorkloadPost {
  /// Some of the values, by name.
  func values(_ properties: PropertySet) -> [String: Value] {
    var values: [String: Value] = [:]
    for property in PostProperty.allCases where properties.contains(property) {
      values[property.name] = value(of: property)
    }
    return values
  }

  /// One value, as the store holds it.
  func value(of property: PostProperty) -> Value {
    switch property {
    case .identifier: .uuid(identifier)
    case .timestamp: .date(Date(microseconds: timestamp))
    case .title: .string(titleText)
    case .url: .string(url)
    case .source: .string(sourceText)
    case .image: .null
    case .posted: .int(Int64(posted))
    case .latitude: .double(latitude)
    case .longitude: .double(longitude)
    }
  }
}

extension PostProperty {
  /// The property's name in the store.
  var name: String { PostProperty.names[rawValue] }

  private static let names = allCases.map { "\($0)" }
}
