import AnnalsModel
import AnnalsState

/// The rows that a step of a list removes, inserts, and leaves in place.
struct ListMoves {
  /// One of these rows, in 32 bytes.
  struct Row {
    var entry: ListEntry
    /// Its place among the changed rows.
    var index: Int32
    /// For a row in the list before and after: its place on the other side, and before that is
    /// known, the number of the pair; otherwise -1.
    var partner: Int32
    var position = 0

    var stays: Bool { partner >= 0 }
  }

  /// An object that may have changed, with its changed properties.
  struct Changed {
    var row: Int64
    var properties: PropertySet
    /// Whether its rows show something else, even if none of its properties changed.
    var showsOtherwise = false
  }

  /// Each once, rising.
  var changed: ContiguousArray<Changed>
  /// By rising position in the old list.
  var out: ContiguousArray<Row> = []
  /// In the order of the new list.
  var into: ContiguousArray<Row> = []
  /// Rows that changed in place, by rising position in the old list.
  var updated: ContiguousArray<Row> = []
  /// What changes of a timeline's objects without a place.
  var absence: ContiguousArray<EntryEdit> = []
  /// How many rows are removed and inserted again.
  private var pairCount: Int32 = 0

  init(_ changed: ContiguousArray<Changed>) { self.changed = changed }

  /// Whether nothing is removed or inserted.
  var leavesAll: Bool { out.isEmpty && into.isEmpty }

  /// The properties that changed of a row.
  func properties(_ row: Row) -> PropertySet { changed[Int(row.index)].properties }

  /// Whether a row that stays where it is is an update.
  func isUpdate(_ index: Int32) -> Bool {
    !changed[Int(index)].properties.isEmpty || changed[Int(index)].showsOtherwise
  }

  /// Notes the entries of a changed row in the list before and after; nil where it is not in it.
  mutating func move(_ index: Int, _ before: ListEntry?, _ after: ListEntry?) {
    let isPair = before != nil && after != nil
    let partner = isPair ? pairCount : -1
    if isPair { pairCount += 1 }
    if let before { out.append(Row(entry: before, index: Int32(index), partner: partner)) }
    if let after { into.append(Row(entry: after, index: Int32(index), partner: partner)) }
  }

  /// Notes a changed row that keeps its keys, if that is an update.
  mutating func update(_ index: Int, _ entry: ListEntry) {
    guard isUpdate(Int32(index)) else { return }
    updated.append(Row(entry: entry, index: Int32(index), partner: -1))
  }

  /// Finds where the rows are in the old list, and where new ones come into it: the position of an
  /// inserted row is the number of old rows before it.
  mutating func locate(
    in list: SortedList, from old: RowOrder, to new: RowOrder
  ) throws(StateFault) {
    try ListMoves.locate(&out, in: list, old)
    try ListMoves.locate(&updated, in: list, old)
    try ListMoves.sort(&into, by: new)
    let step = StepOrder(old: old, new: new)
    var last = 0
    var finger = list.finger
    for index in into.indices {
      // Rows that stay have the same keys in both states.
      last = max(last, try finger.find(into[index].entry, by: step).rank)
      into[index].position = last
    }
    pair()
  }

  private static func locate(
    _ rows: inout ContiguousArray<Row>, in list: SortedList, _ order: RowOrder
  ) throws(StateFault) {
    // Neighbours are looked for one after the other; words tell nearly all of them apart.
    rows.sort(byWord: \.entry.word)
    var isSorted = true
    var finger = list.finger
    for index in rows.indices {
      guard let position = try list.position(of: rows[index].entry, by: order, &finger) else {
        guard order.records == nil else {
          throw .query(
            .unsuitable,
            "sort descriptors put the record of row \(rows[index].entry.row) elsewhere than "
              + "before, though it is the same: what they compare may depend on the record alone")
        }
        preconditionFailure("a row of a live list is not at its place")
      }
      isSorted = isSorted && (index == 0 || rows[index - 1].position < position)
      rows[index].position = position
    }
    if !isSorted { rows.sort { $0.position < $1.position } }
  }

  private static func sort(
    _ rows: inout ContiguousArray<Row>, by order: RowOrder
  ) throws(StateFault) {
    rows.sort(byWord: \.entry.word)
    var start = 0
    while start < rows.count {
      var end = start + 1
      while end < rows.count, rows[end].entry.word == rows[start].entry.word { end += 1 }
      if end - start > 1 {
        try StateFault.translating {
          try rows[start..<end].sort { try order.precedes($0.entry, $1.entry) }
        }
      }
      start = end
    }
  }

  /// Pairs rows that are removed and inserted again.
  private mutating func pair() {
    guard pairCount > 0 else { return }
    var places = ContiguousArray<Int32>(repeating: -1, count: Int(pairCount))
    for index in into.indices where into[index].stays {
      places[Int(into[index].partner)] = Int32(index)
    }
    for index in out.indices where out[index].stays {
      let partner = places[Int(out[index].partner)]
      out[index].partner = partner
      into[Int(partner)].partner = Int32(index)
    }
  }

  /// The edits of the old list. Inserted rows get their positions in the new one.
  mutating func edits() -> ContiguousArray<EntryEdit> {
    var edits: ContiguousArray<EntryEdit> = []
    edits.reserveCapacity(out.count + into.count)
    var gone = 0
    for index in into.indices {
      let place = into[index].position
      while gone < out.count, out[gone].position < place {
        edits.append(EntryEdit(out[gone].position, nil))
        gone += 1
      }
      edits.append(EntryEdit(place, into[index].entry))
      into[index].position = place - gone + index
    }
    for row in out[gone...] { edits.append(EntryEdit(row.position, nil)) }
    return edits
  }

  /// The new position of a row that stays at an old one, or of the first row that stays behind one
  /// that is removed. O(log changes), after `edits`.
  func newPosition(of position: Int) -> Int {
    let stays = position - out.indices.rank { out[$0].position < position }
    return stays + into.indices.rank { into[$0].position - $0 <= stays }
  }
}

/// The order of a step: compares a row of the old list with one of the new.
private struct StepOrder: ListOrder {
  let old: RowOrder
  let new: RowOrder

  @inline(__always)
  func precedes(_ a: ListEntry, _ b: ListEntry) throws(StateFault) -> Bool {
    try old.precedes(a, b, in: new)
  }
}
