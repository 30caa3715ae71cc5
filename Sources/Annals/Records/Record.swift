import AnnalsModel

/// A type whose values are stored as the objects of one entity.
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
/// Names in the store are those that `entity` states, never those of Swift, so that renaming a
/// property in code changes nothing in files.
public protocol Record: Sendable {
  /// The entity: its name, how a record is made, and its properties in the order of making.
  static var entity: RecordEntity<Self> { get }
}

/// An object of a store, with its record.
///
/// The record is a copy: it does not change when the store does, and changing it changes nothing in
/// the store. Its properties can be read from the object itself: `post.title` is
/// `post.value.title`.
@dynamicMemberLookup
public struct Object<R: Record>: Sendable {
  /// The object's identity.
  public let objectID: ObjectID
  /// The object's record.
  public var value: R

  package init(objectID: ObjectID, value: R) {
    self.objectID = objectID
    self.value = value
  }

  /// A property of the record.
  public subscript<V>(dynamicMember keyPath: KeyPath<R, V>) -> V { value[keyPath: keyPath] }
}

extension Object: Equatable where R: Equatable {}

extension Object: Hashable where R: Hashable {}
