import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

/// The rows of a live view or a live timeline, or of a fetch with sections, as of one transaction.
/// Immutable.
///
/// Holds the order and ids of all rows, and reads rows on demand from its state; so what reads them
/// is `throws`. Every call costs O(log n), and the rows it reads.
///
/// Not a `Sequence`, which would have to hide their errors. Loop with `for row in try rows.all()`,
/// or page by page with `for row in try rows.rows(in: 0..<min(200, rows.count))`.
public struct RowList<Row: Sendable>: Sendable {
  /// One reference, so that copies of the rows are cheap.
  private let content: RowListContent
  private let read: Reader

  init(_ content: RowListContent, _ read: @escaping Reader) {
    self.content = content
    self.read = read
  }

  /// The state that the rows were found in.
  public var snapshot: Snapshot { content.snapshot }

  var list: QueryList { content.list }

  /// Reads the rows at some positions.
  typealias Reader = @Sendable (RowListContent, Range<Int>) throws(AnnalsError) -> [Row]

  /// The position in history of that state.
  public var token: Token { snapshot.token }

  /// The entity of the rows.
  package var entity: EntityNumber { list.query.rows.entity }

  /// The number of rows. O(1).
  public var count: Int { list.count }

  /// Whether there are no rows. O(1).
  public var isEmpty: Bool { count == 0 }

  /// The row at a position. Traps if there is none.
  public subscript(position: Int) -> Row {
    get throws(AnnalsError) { try rows(in: position..<position + 1)[0] }
  }

  /// The row at a place in a section. Traps if there is none.
  public subscript(section: Int, item: Int) -> Row {
    get throws(AnnalsError) { try self[position(ofSection: section, item: item)] }
  }

  /// The rows at these positions, without reading others. Traps if a position is out of range.
  public func rows(in range: Range<Int>) throws(AnnalsError) -> [Row] {
    try read(content, range)
  }

  /// All rows. O(n).
  public func all() throws(AnnalsError) -> [Row] { try rows(in: 0..<count) }

  /// The ids of the rows, in order, without reading them.
  public var objectIDs: ObjectIDList {
    ObjectIDList(list: list, store: snapshot.reader.store)
  }

  /// The position of an object, on a timeline of its first row; nil if it is not among the rows.
  /// Throws `.otherStore` if it is one of another store.
  public func position(of id: ObjectID) throws(AnnalsError) -> Int? {
    try positions(of: id).first
  }

  /// The positions of an object's rows, which on a timeline may be two, rising; empty if it has
  /// none. Throws `.otherStore` if it is one of another store.
  public func positions(of id: ObjectID) throws(AnnalsError) -> [Int] {
    try id.requireOwn(snapshot.reader.store)
    guard id.entity == entity else { return [] }
    return try AnnalsError.translating { try list.positions(of: id.row) }
  }

  /// The section and item of the row at a position. Traps if there is none.
  public func place(of position: Int) -> ListDiff.Place { list.place(of: position) }

  /// The number of sections; 0 without sections, and without rows.
  public var sectionCount: Int { list.sectionCount }

  /// The positions of a section's rows. Traps if there is no such section.
  public func range(ofSection section: Int) -> Range<Int> { list.range(ofSection: section) }

  /// The position of a place in a section. Traps if it is not there.
  public func position(ofSection section: Int, item: Int) -> Int {
    let range = range(ofSection: section)
    insist(item >= 0 && item < range.count, "no item \(item) in section \(section)")
    return range.lowerBound + item
  }

  /// A section. Traps if it does not exist.
  public func section(_ index: Int) throws(AnnalsError) -> RowSection {
    // The calendar buckets asked for are cached in the copy.
    var list = list
    let key = try AnnalsError.translating { try list.key(ofSection: index) }
    switch key {
    case .bucket(let bucket):
      return RowSection(
        value: .date(bucket.range.lowerBound), bucket: bucket, range: list.range(ofSection: index))
    case .value(let value):
      return RowSection(value: value, bucket: nil, range: list.range(ofSection: index))
    }
  }

  /// All sections, in order. O(sections × log n).
  public func sections() throws(AnnalsError) -> [RowSection] {
    var result: [RowSection] = []
    for index in 0..<sectionCount { result.append(try section(index)) }
    return result
  }
}

extension RowList {
  /// Reads objects of a record type.
  static func reader<R: Record>(_: R.Type) -> Reader where Row == Object<R> {
    { content, range throws(AnnalsError) in
      try content.snapshot._query(R.self).objects(content.list.rows(in: range))
    }
  }
}

extension RowList where Row == DynamicObject {
  /// Reads objects of any entity.
  static var storedReader: Reader {
    { content, range throws(AnnalsError) in
      let (snapshot, list) = (content.snapshot, content.list)
      guard let entity = snapshot.schema.entity(numbered: list.query.rows.entity) else {
        return []
      }
      return try snapshot.reader.objects(list.rows(in: range), of: entity)
    }
  }
}

/// Consecutive rows with a value in common.
public struct RowSection: Hashable, Sendable {
  /// The common value; for a unit of the calendar, its first moment. Null for what is ongoing after
  /// every date of a timeline.
  public let value: Value
  /// The calendar unit that their dates lie in; nil in sections by value, for rows without a date,
  /// and for ongoing ones.
  public let bucket: CalendarBucket?
  /// Their positions among all rows.
  public let range: Range<Int>

  /// The number of rows.
  public var count: Int { range.count }
}

/// The ids of a list's rows, in order.
public struct ObjectIDList: RandomAccessCollection, Sendable {
  let list: QueryList
  let store: RawUUID

  /// The position of the first row.
  public var startIndex: Int { 0 }

  /// The position behind the last row.
  public var endIndex: Int { list.count }

  /// The id of the row at a position. O(log n).
  public subscript(position: Int) -> ObjectID {
    ObjectID(store: store, entity: list.query.rows.entity, row: list.row(at: position))
  }
}
