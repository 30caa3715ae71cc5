import AnnalsModel

/// One property of a change, with its before- and after-image. Each is decoded when it is read.
///
/// A value of a few words that refers to its frame, and keeps that in memory.
public struct PropertyDifference: Sendable {
  @usableFromInline let page: TransactionPage
  /// The page indexes of the property, its change and its transaction.
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

  /// The property's name at that time.
  public var name: String {
    page.propertyName(number, of: Int(change), in: Int(transaction))
  }

  /// The before-image; null if there was no value, and for the edits of a list (see `edits`).
  /// O(length of the value).
  @inlinable public var before: Value {
    let cell = page.batch.properties[Int(position)].before
    if cell.isNull { return page.nullIsNull ? .null : unwritten(unlessOf: .insert) }
    return value(cell)
  }

  /// The after-image; null if there is no value, and for the edits of a list (see `edits`).
  /// O(length of the value).
  @inlinable public var after: Value {
    let cell = page.batch.properties[Int(position)].after
    if cell.isNull { return page.nullIsNull ? .null : unwritten(unlessOf: .delete) }
    return value(cell)
  }

  /// The edits of a to-many relationship by an update; nil for everything else. O(number of edits).
  public var edits: RelationshipEdits? {
    let property = page.batch.properties[Int(position)]
    return property.isEdits ? page.edits(property) : nil
  }

  /// The most frequent kinds, inlined into the caller.
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

  /// What a null reads as: the default, for a required attribute of an existing object; null if the
  /// object does not exist.
  @usableFromInline
  func unwritten(unlessOf absent: ChangeKind) -> Value {
    let entry = page.batch.changes[Int(change)]
    if entry.kind == absent || page.batch.properties[Int(position)].isEdits { return .null }
    return page.unwritten(number, in: entry.entity, of: Int(transaction))
  }
}

extension PropertyDifference: Hashable {
  /// Whether both describe the same values of a property with the same number and name.
  public static func == (a: PropertyDifference, b: PropertyDifference) -> Bool {
    a.number == b.number && a.name == b.name && a.before == b.before && a.after == b.after
      && a.edits == b.edits
  }

  /// Feeds the compared parts into the hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(number)
    hasher.combine(before)
    hasher.combine(after)
  }
}

extension PropertyDifference: CustomStringConvertible {
  /// The name and the values, or the edits, on one line: `title "Fog" → "Mist"`. Long texts are
  /// cut.
  public var description: String { "\(name) \(valueText(of: .update))" }

  /// The value that an insert gave or a delete took, or what an update changed.
  func valueText(of kind: ChangeKind) -> String {
    if let edits { return edits.shortDescription }
    switch kind {
    case .insert: return after.shortDescription
    case .delete: return before.shortDescription
    case .update: return "\(before.shortDescription) → \(after.shortDescription)"
    }
  }
}

extension RelationshipEdits {
  /// The rows of the objects inserted, removed and moved, these with their positions from 1: `+#3
  /// -#4 #5 moved from 4 to 1`; only how many of a long list.
  fileprivate var shortDescription: String {
    func text(_ edits: [Edit], _ sign: String) -> [String] {
      edits.count > 10
        ? ["\(sign)\(edits.count) objects"] : edits.map { "\(sign)#\($0.object.row)" }
    }
    let (moved, removed, inserted) = parts
    let moves =
      moved.count > 10
      ? ["\(moved.count) objects moved"]
      : moved.map { "#\($0.object.row) moved from \($0.from + 1) to \($0.to + 1)" }
    let others = (text(inserted, "+") + text(removed, "-")).joined(separator: " ")
    return ((others.isEmpty ? [] : [others]) + moves).joined(separator: ", ")
  }
}
