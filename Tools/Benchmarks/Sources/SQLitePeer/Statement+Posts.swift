import CSQLite
import Foundation
import Measuring
import Workload

extension Statement {
  /// Steps through rows of posts, the number of the object first. `body` gets that number, and a
  /// way to read the post.
  func forEachPost(_ body: (Int, () -> StoredPost) throws -> Void) rethrows {
    defer { reset() }
    while step() { try body(int(0), { post(from: 1) }) }
  }

  /// The post whose properties begin at a column. A value that is null is left as it is in an empty
  /// post.
  func post(from first: Int32) -> StoredPost {
    var post = StoredPost()
    if let bytes = blob(first), bytes.count == 16 {
      post.identifier = UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
    post.timestamp = Int64(int(first + 1))
    post.title = text(first + 2)
    post.url = text(first + 3)
    post.source = text(first + 4)
    post.posted = Int16(truncatingIfNeeded: int(first + 6))
    post.latitude = double(first + 7)
    post.longitude = double(first + 8)
    return post
  }

  /// The properties from a column on that are not null.
  func properties(from first: Int32) -> PropertySet {
    var found: PropertySet = []
    for property in PostProperty.allCases where !isNull(first + Int32(property.rawValue)) {
      found.insert(PropertySet(property))
    }
    return found
  }
}
