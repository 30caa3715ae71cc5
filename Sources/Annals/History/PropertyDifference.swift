import AnnalsEngine
import AnnalsModel

/// One property of a change, with its values before and after; each is read when it is asked for.
///
/// A value of a few words that points into the frame it is of, and keeps that in memory.
public struct PropertyDifference: Sendable {
  @usableFromInline let page: TransactionPage
  /// The places in the page: of the property, of its change, of its transaction.
  @usableFromInline let position: Int32
  @usableFromInline let change: Int32
  @usableFromInline let transaction: Int32

  @inlinable @inline(__always)
  init(page: TransactionPage, position: Int, change: Int, transaction: Int) {
    self.page = page
    self.position = Int32(truncatingIfNeeded: position)
    self.change = Int32(truncatingIfNeeded: change)
    self.transaction = Int32(truncatingIfNeeded: transaction)
  }

  /// The property's stable number.
  @inlinable public var number: PropertyNumber { page.batch.properties[Int(position)].property }

  /// The property's name at the time.
  public var name: String {
    page.propertyName(number, of: Int(change), in: Int(transaction))
  }

  /// The value before; null if there was none, and for the edits of a list (see `edits`).
  /// O(length of the value).
  @inlinable public var before: Value {
    let cell = page.batch.properties[Int(position)].before
    if cell.isNull { return page.nullIsNull ? .null : unwritten(unlessOf: .insert) }
    return value(cell)
  }

  /// The value after; null if there is none, and for the edits of a list (see `edits`).
  /// O(length of the value).
  @inlinable public var after: Value {
    let cell = page.batch.properties[Int(position)].after
    if cell.isNull { return page.nullIsNull ? .null : unwritten(unlessOf: .delete) }
    return value(cell)
  }

  /// What an update did to a to-many relationship; nil for everything else. O(number of edits).
  public var edits: RelationshipEdits? {
    let property = page.batch.properties[Int(position)]
    return property.isEdits ? page.edits(property) : nil
  }

  /// The kinds that most values have here, where the caller can see them.
  @inlinable @inline(__always)
  func value(_ cell: ValueCell) -> Value {
    switch cell.tag {
    case .int: .int(Int64(bitPattern: cell.bits))
    case .double: .double(Double(bitPattern: cell.bits))
    case .date: .date(Timestamp(microseconds: Int64(bitPattern: cell.bits)))
    case .objects: listed(cell)
    default: page.value(cell)
    }
  }

  @usableFromInline
  func listed(_ cell: ValueCell) -> Value {
    page.batch.properties[Int(position)].isEdits ? .null : page.value(cell)
  }

  /// What a null stands for: in a required attribute of an object that exists its default, as in
  /// every reading; nothing where the object does not exist.
  @usableFromInline
  func unwritten(unlessOf absent: ChangeKind) -> Value {
    let entry = page.batch.changes[Int(change)]
    if entry.kind == absent || page.batch.properties[Int(position)].isEdits { return .null }
    return page.unwritten(number, in: entry.entity, of: Int(transaction))
  }
}

extension PropertyDifference: Hashable {
  /// Whether both tell the same of a property of the same number and name.
  public static func == (a: PropertyDifference, b: PropertyDifference) -> Bool {
    a.number == b.number && a.name == b.name && a.before == b.before && a.after == b.after
      && a.edits == b.edits
  }

  /// Feeds what is compared into the hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(number)
    hasher.combine(before)
    hasher.combine(after)
  }
}

extension PropertyDifference: CustomStringConvertible {
  /// The name and the values, or the edits: `title: string("Fog") → string("Mist")`.
  public var description: String {
    if let edits { return "\(name): \(edits)" }
    return "\(name): \(before) → \(after)"
  }
}
