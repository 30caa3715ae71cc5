import Foundation
import GRDB
import Workload

/// A row of posts. Reads columns by position and writes them itself, as GRDB's guide to performance
/// advises, rather than by Codable.
struct PostRow: FetchableRecord, PersistableRecord {
  static let databaseTableName = "post"

  /// The columns, in the order of the table.
  enum Columns {
    static let id = Column("id")
    static let timestamp = Column("timestamp")
    static let all = ["id"] + PostProperty.allCases.map { "\($0)" }
  }

  static let newestFirst = order(Columns.timestamp.desc, Columns.id.desc)

  var id: Int
  var post: StoredPost

  init(id: Int, _ post: WorkloadPost) {
    self.id = id
    self.post = StoredPost(post)
  }

  init(row: Row) {
    id = row[0]
    post = PostRow.post(row, from: 1)
  }

  /// The post whose columns begin at `first`; those that are null stay as in an empty post.
  static func post(_ row: Row, from first: Int) -> StoredPost {
    var post = StoredPost()
    if let bytes = row[first] as UUID? { post.identifier = bytes }
    post.timestamp = row[first + 1] as Int64? ?? 0
    post.title = row[first + 2] as String? ?? ""
    post.url = row[first + 3] as String? ?? ""
    post.source = row[first + 4] as String? ?? ""
    post.posted = row[first + 6] as Int16? ?? 0
    post.latitude = row[first + 7] as Double? ?? 0
    post.longitude = row[first + 8] as Double? ?? 0
    return post
  }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = id
    container["identifier"] = post.identifier
    container["timestamp"] = post.timestamp
    container["title"] = post.title
    container["url"] = post.url
    container["source"] = post.source
    container["image"] = nil as Data?
    container["posted"] = post.posted
    container["latitude"] = post.latitude
    container["longitude"] = post.longitude
  }

  /// The assignments that give some columns the values of a post.
  static func assignments(_ properties: PropertySet, _ post: WorkloadPost) -> [ColumnAssignment] {
    PostProperty.allCases.filter(properties.contains).map { property in
      let column = Column("\(property)")
      switch property {
      case .identifier: return column.set(to: post.identifier)
      case .timestamp: return column.set(to: post.timestamp)
      case .title: return column.set(to: post.titleText)
      case .url: return column.set(to: post.url)
      case .source: return column.set(to: post.sourceText)
      case .image: return column.set(to: nil)
      case .posted: return column.set(to: post.posted)
      case .latitude: return column.set(to: post.latitude)
      case .longitude: return column.set(to: post.longitude)
      }
    }
  }
}

/// A row of transactions.
struct TransactionRow: MutablePersistableRecord, Encodable {
  static let databaseTableName = "history_transaction"

  var id: Int64?
  var timestamp: Int64
  var author: Int
  var context: Int

  mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = id
    container["timestamp"] = timestamp
    container["author"] = author
    container["context"] = context
  }
}

/// A row of the history: a transaction, one change of it, and the values before and after.
struct ChangeRow: FetchableRecord {
  var transaction: Int
  var timestamp: Int64
  var author: String
  var context: String
  var kind: Int
  var object: Int
  var before = StoredPost()
  var after = StoredPost()

  init(row: Row) {
    transaction = row[0]
    timestamp = row[1]
    author = row[2]
    context = row[3]
    kind = row[6]
    object = row[7]
    var values = [DatabaseValue](repeating: .null, count: 18)
    for place in 0..<18 { values[place] = row[8 + place] }
    before = ChangeRow.post(values, 0)
    after = ChangeRow.post(values, 1)
  }

  /// The values at every other place.
  private static func post(_ values: [DatabaseValue], _ side: Int) -> StoredPost {
    func value<T: DatabaseValueConvertible>(_ property: PostProperty, _ other: T) -> T {
      T.fromDatabaseValue(values[property.rawValue * 2 + side]) ?? other
    }
    let empty = StoredPost()
    return StoredPost(
      identifier: value(.identifier, empty.identifier), timestamp: value(.timestamp, 0),
      title: value(.title, ""), url: value(.url, ""), source: value(.source, ""),
      posted: value(.posted, 0), latitude: value(.latitude, 0), longitude: value(.longitude, 0))
  }
}
