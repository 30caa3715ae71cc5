import AnnalsFormat
import AnnalsModel

// A run of inserts into consecutive rows of one leaf is applied column by column: looks up a leaf's
// properties once for up to 256 values.

extension Table {
  /// Inserts new objects in consecutive rows of one leaf.
  func insertRun(_ list: ChangeList, _ run: Range<Int>) throws(StateFault) {
    let firstRow = list.changes[run.lowerBound].row
    let place = try place(firstRow)
    if !indexes.isEmpty, firstRow < nextRow {
      for offset in 0..<run.count { try noteAll(firstRow + Int64(offset)) }
    }
    let group = groups.writableGroup(place.group)
    for offset in place.offset..<place.offset + run.count {
      guard try !group.isLive(offset) else {
        throw invalid(firstRow + Int64(offset - place.offset), "inserted, but it is there")
      }
      try group.markLive(offset)
    }
    liveCount += run.count
    nextRow = max(nextRow, firstRow + Int64(run.count))
    let fault = withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 2 * run.count) { memory in
      var cursors = InsertCursors(list, run, memory: memory)
      do throws(StateFault) {
        try insertColumns(&cursors, row: firstRow, place: place, group: group)
        return nil as StateFault?
      } catch {
        return error
      }
    }
    if let fault { throw fault }
  }

  private func insertColumns(
    _ cursors: inout InsertCursors, row: Int64, place: RowPosition, group: RowGroup
  ) throws(StateFault) {
    while let property = cursors.startNextProperty() {
      guard let column = position(of: property) else { throw invalid(row, "no such property") }
      try group.prepareToWrite(leaf: place.leaf, column: column, width: columns.count)
      let isSet = Leaf.append(
        &group.blocks[place.leaf][column], slot: place.slot, from: &cursors,
        declared: columns[column].kind)
      guard isSet else { throw invalid(row, "a value that its property does not admit") }
    }
    guard cursors.isDone else { throw invalid(row, "properties that do not rise") }
  }
}

/// The inserts of a run, read property by property.
///
/// Properties rise within a change, so one look at each change's next property finds all values of
/// a property.
struct InsertCursors {
  private let list: ChangeList
  /// How many changes there are.
  let count: Int
  /// The current property.
  private(set) var property: PropertyNumber = 0
  /// The lowest property that follows it; `.max` for none.
  private var upcoming: PropertyNumber = .max
  /// By change: its next property, and the end of its run.
  private let next: UnsafeMutablePointer<UInt32>
  private let ends: UnsafeMutablePointer<UInt32>

  /// Cursors before the first property; `memory` has room for two numbers for each change.
  init(_ list: ChangeList, _ run: Range<Int>, memory: UnsafeMutableBufferPointer<UInt32>) {
    self.list = list
    count = run.count
    memory.initialize(repeating: 0)
    // Not nil: a run is never empty.
    guard let start = memory.baseAddress else { preconditionFailure("an empty run") }
    next = start
    ends = start + run.count
    for (index, number) in run.enumerated() {
      let change = list.changes[number]
      next[index] = change.firstProperty
      ends[index] = change.firstProperty + change.propertyCount
      if change.propertyCount > 0 {
        upcoming = min(upcoming, list.properties[Int(change.firstProperty)].property)
      }
    }
  }

  /// The bytes that cells point into.
  var arena: UnsafeRawBufferPointer { list.arena }

  /// Advances to the next property, once every change was asked for the current one; returns nil if
  /// there is none left.
  mutating func startNextProperty() -> PropertyNumber? {
    guard upcoming != .max else { return nil }
    // A change whose properties do not rise lies behind; then `isDone` stays false.
    guard upcoming > property else { return nil }
    property = upcoming
    upcoming = .max
    return property
  }

  /// Whether all values were read.
  var isDone: Bool { upcoming == .max }

  /// The value of the current property in a change; nil if it has none. Call it once for each
  /// change.
  @inline(__always)
  mutating func nextCell(of change: Int) -> ValueCell? {
    let index = Int(next[change])
    let end = Int(ends[change])
    guard index < end else { return nil }
    let entry = list.properties[index]
    guard entry.property == property, !entry.isEdits else {
      upcoming = min(upcoming, entry.property)
      return nil
    }
    next[change] = UInt32(truncatingIfNeeded: index + 1)
    if index + 1 < end { upcoming = min(upcoming, list.properties[index + 1].property) }
    return entry.after.isAbsence ? nil : entry.after
  }

  /// The bytes that the values of the property take together, for kinds kept as bytes.
  func byteCount() -> Int {
    var count = 0
    for change in 0..<self.count where next[change] < ends[change] {
      let entry = list.properties[Int(next[change])]
      if entry.property == property { count += Int(entry.after.length) }
    }
    return count
  }
}

extension Leaf {
  /// Sets the current property of consecutive rows from `slot` on. Returns false if the column
  /// refuses a value.
  static func append(
    _ leaf: inout Leaf?, slot: Int, from cursors: inout InsertCursors, declared: ColumnKind
  ) -> Bool {
    let isUnique = isKnownUniquelyReferenced(&leaf)
    let end = slot + cursors.count
    // One kind, no references whose entity might differ, nothing there: filled directly.
    let isPlain =
      declared != .any && declared != .object
      && (leaf.map { $0.head.pointee.kind == declared && $0.head.pointee.rows <= slot } ?? true)
    guard isPlain else { return setEach(&leaf, slot: slot, from: &cursors, declared: declared) }
    let growth = declared.storage == .bytes ? cursors.byteCount() : 0
    let target: Leaf
    if let current = leaf {
      let head = current.head
      guard growth <= maximumArena - head.pointee.arenaCount else { return false }
      let fits =
        end <= head.pointee.rowCapacity
        && growth <= head.pointee.arenaCapacity - head.pointee.arenaCount
      target = isUnique && fits ? current : current.copied(rows: end, growth: growth)
    } else {
      guard growth <= maximumArena else { return false }
      target = make(kind: declared, entity: 0, rows: end, arenaCapacity: growth)
    }
    let odd = target.appendEach(from: &cursors, slot: slot)
    if target.head.pointee.present > 0 { leaf = target }
    guard let odd else { return true }
    // An erased value, with which the leaf holds several kinds from here on.
    guard
      set(&leaf, slot: slot + odd.index, to: odd.cell, in: cursors.arena, declared: declared)
    else { return false }
    return setEach(&leaf, slot: slot, from: &cursors, declared: declared, after: odd.index)
  }

  private static func setEach(
    _ leaf: inout Leaf?, slot: Int, from cursors: inout InsertCursors, declared: ColumnKind,
    after done: Int = -1
  ) -> Bool {
    let arena = cursors.arena
    for index in done + 1..<cursors.count {
      guard let cell = cursors.nextCell(of: index) else { continue }
      guard set(&leaf, slot: slot + index, to: cell, in: arena, declared: declared) else {
        return false
      }
    }
    return true
  }

  /// Appends values after all rows that have one; there is room for them. Stops at a value of
  /// another kind, and returns it with its index.
  private func appendEach(
    from cursors: inout InsertCursors, slot first: Int
  ) -> (index: Int, cell: ValueCell)? {
    let head = self.head
    let words = self.words
    let values = words + Leaf.bitWords
    let arena = self.arena
    let ends = self.ends
    let source = cursors.arena
    let storage = head.pointee.storage
    let tag = head.pointee.tag
    var used = head.pointee.arenaCount
    var rows = head.pointee.rows
    var present = 0
    var odd: (index: Int, cell: ValueCell)?
    for index in 0..<cursors.count {
      guard let cell = cursors.nextCell(of: index) else { continue }
      guard cell.tag == tag else {
        odd = (index, cell)
        break
      }
      let slot = first + index
      switch storage {
      case .words: values[slot] = cell.bits
      case .pairs: Leaf.copy(cell, 16, from: source, to: arena + slot * 16)
      case .bytes:
        let length = Int(cell.length)
        Leaf.copy(cell, length, from: source, to: arena + used)
        while rows < slot {
          ends[rows] = UInt32(truncatingIfNeeded: used)
          rows += 1
        }
        used += length
        ends[slot] = UInt32(truncatingIfNeeded: used)
        if cell.isLarge { setLarge(slot, true) }
      }
      words[slot >> 6] |= 1 << UInt64(slot & 63)
      present += 1
      rows = slot + 1
    }
    head.pointee.arenaCount = used
    head.pointee.rows = rows
    head.pointee.present += present
    return odd
  }
}
