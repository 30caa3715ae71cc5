/// A path on which the result of a condition or the place of an object depends.
package struct PathDependency: Hashable, Sendable {
  /// The path from the object; unlike others it may go through to-many relationships, to all of
  /// their objects.
  package let path: PropertyPath
  /// Whether only the ids listed at the path's end count, not whether their objects exist.
  package let isListed: Bool

  package init(_ path: PropertyPath, isListed: Bool = false) {
    self.path = path
    self.isListed = isListed
  }
}
