import AnnalsModel

/// A Swift type whose values are stored as the objects of one entity.
///
/// ```swift
/// struct Post: Record {
///   var identifier: UUID
///   var timestamp: Date
///   var title: String?
///   static let entity = RecordEntity("Post", Post.init,
///     Property("identifier", \.identifier).unique().preservedAfterDeletion(),
///     Property("timestamp", \.timestamp).indexed(.descending),
///     Property("title", \.title))
/// }
/// ```
///
/// Names in the store are those given in `entity`, never those of Swift, so renaming a property in
/// code changes nothing in files.
public protocol Record: Sendable {
  /// The entity: its name, how to make a record, and its properties in the order of the
  /// initialiser.
  static var entity: RecordEntity<Self> { get }
}

/// An object of a store, with its record.
///
/// The record is a copy: it does not change when the store does, and changing it changes nothing in
/// the store until it is given to `WriteTransaction.save`, which writes the properties that were
/// changed. Its properties can be read and set on the object itself: `post.title` is
/// `post.value.title`. If a record has properties named `id`, `objectID` or `value`, the object's
/// own take precedence; the record's are `post.value.id`.
///
/// The first change keeps the record as it was read, beside the changed one.
@dynamicMemberLookup
public struct Object<R: Record>: Sendable, Identifiable {
  /// The object's identity.
  public let objectID: ObjectID
  @usableFromInline var record: R
  /// The record as it was read; nil as long as it is unchanged.
  @usableFromInline var unchanged: UnchangedRecord<R>?

  @inlinable
  package init(objectID: ObjectID, value: consuming R) {
    self.objectID = objectID
    record = value
  }

  /// The object's record.
  @inlinable
  public var value: R {
    get { record }
    _modify {
      if unchanged == nil { unchanged = UnchangedRecord(record) }
      yield &record
    }
  }

  /// The same as `objectID`.
  public var id: ObjectID { objectID }

  /// A property of the record.
  public subscript<V>(dynamicMember keyPath: KeyPath<R, V>) -> V { value[keyPath: keyPath] }

  /// A settable property of the record.
  public subscript<V>(dynamicMember keyPath: WritableKeyPath<R, V>) -> V {
    get { value[keyPath: keyPath] }
    set { value[keyPath: keyPath] = newValue }
  }
}

/// The record of an object as it was read, before its first change.
@usableFromInline
final class UnchangedRecord<R: Record>: Sendable {
  let value: R

  @usableFromInline
  init(_ value: R) { self.value = value }
}

extension Object: Equatable where R: Equatable {
  /// Whether both are the same object with equal records.
  public static func == (a: Object, b: Object) -> Bool {
    a.objectID == b.objectID && a.value == b.value
  }
}

extension Object: Hashable where R: Hashable {
  /// Hashes the id and the record.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(objectID)
    hasher.combine(value)
  }
}

extension Object: Encodable where R: Encodable {
  /// Encodes the record as it encodes itself, without the object's id.
  public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

extension Object: CustomStringConvertible {
  /// The entity, the row, and the properties by their names in the store: `Post#3(title: "Fog",
  /// rating: 4, mood: nil)`. Long texts are cut, data is shown as a byte count.
  public var description: String {
    let entity = R.entity
    let properties = zip(entity.properties, entity.accesses).map { property, access in
      "\(property.name): \(access.value(value).printed)"
    }
    return "\(entity.name)#\(objectID.row)(\(properties.joined(separator: ", ")))"
  }
}

extension Value {
  /// The value as printed for an object.
  fileprivate var printed: String {
    switch self {
    case .null: "nil"
    case .object(let target): "#\(target.row)"
    case .objects(let targets):
      "[" + targets.prefix(10).map { "#\($0.row)" }.joined(separator: ", ")
        + (targets.count > 10 ? ", … \(targets.count - 10) more]" : "]")
    default: shortDescription
    }
  }
}
