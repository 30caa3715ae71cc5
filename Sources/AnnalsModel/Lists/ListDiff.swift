/// The difference between the old and new rows of a live view.
///
/// Positions in `deletes`, `deletedSections` and `from` are those in the old rows; positions in
/// `inserts`, `insertedSections` and `to` those in the new ones. A row moves only if its own sort
/// keys or section changed, or if the order itself was replaced. A row that moved is not also an
/// update: its changed properties are listed there. All other rows are unchanged. Rows without
/// sections are one section of their own, also if there are none: it is inserted at first.
public struct ListDiff: Hashable, Sendable {
  /// The place of a row.
  public struct Place: Hashable, Sendable {
    /// The row's position among all rows, from 0.
    public var position: Int
    /// The section; 0 in a view without sections.
    public var section: Int
    /// The row's position in its section, from 0.
    public var item: Int

    package init(position: Int, section: Int, item: Int) {
      self.position = position
      self.section = section
      self.item = item
    }
  }

  /// A row that is among the old rows and the new ones.
  public struct Step: Hashable, Sendable {
    /// The old place.
    public var from: Place
    /// The new place.
    public var to: Place
    /// The properties of the object that changed.
    package var changed: PropertySet

    package init(from: Place, to: Place, changed: PropertySet) {
      self.from = from
      self.to = to
      self.changed = changed
    }
  }

  /// The old places of deleted rows, rising.
  public package(set) var deletes: [Place] = []
  /// The new places of inserted rows, rising.
  public package(set) var inserts: [Place] = []
  /// The rows that moved, by new place; some of them changed too.
  public package(set) var moves: [Step] = []
  /// The rows that changed without moving, by new place.
  public package(set) var updates: [Step] = []
  /// The deleted sections, rising.
  public package(set) var deletedSections: [Int] = []
  /// The inserted sections, rising.
  public package(set) var insertedSections: [Int] = []
  /// The entity of the rows, for the names of properties.
  package var entity: Entity?

  package init() {}

  /// Whether nothing changed.
  public var isEmpty: Bool {
    deletes.isEmpty && inserts.isEmpty && moves.isEmpty && updates.isEmpty
      && deletedSections.isEmpty && insertedSections.isEmpty
  }

  /// The names of the changed properties of a row that moved or was updated.
  public func changedProperties(of step: Step) -> [String] {
    guard let entity else { return [] }
    return step.changed.numbers.compactMap { number in
      entity.attribute(numbered: number)?.name
        ?? entity.relationships.first { $0.number == number }?.name
    }
  }

  /// Whether both describe the same difference.
  public static func == (a: ListDiff, b: ListDiff) -> Bool {
    a.deletes == b.deletes && a.inserts == b.inserts && a.moves == b.moves
      && a.updates == b.updates && a.deletedSections == b.deletedSections
      && a.insertedSections == b.insertedSections
  }

  /// Hashes the difference.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(deletes)
    hasher.combine(inserts)
    hasher.combine(moves)
    hasher.combine(updates)
    hasher.combine(deletedSections)
    hasher.combine(insertedSections)
  }
}

extension ListDiff {
  /// Turns the old rows into the new ones. Calls `row` for the row at a place among the new rows:
  /// for each one inserted, moved or updated. O(n).
  public func apply<Row, E: Error>(
    to rows: inout [Row], _ row: (Place) throws(E) -> Row
  ) throws(E) {
    let gone = (deletes + moves.map(\.from)).map(\.position).sorted()
    let came = (inserts + moves.map(\.to)).sorted { $0.position < $1.position }
    var result: [Row] = []
    result.reserveCapacity(rows.count - gone.count + came.count)
    var (nextGone, nextCame) = (0, 0)
    func fill() throws(E) {
      while nextCame < came.count, came[nextCame].position == result.count {
        result.append(try row(came[nextCame]))
        nextCame += 1
      }
    }
    for (position, old) in rows.enumerated() {
      if nextGone < gone.count, gone[nextGone] == position {
        nextGone += 1
        continue
      }
      try fill()
      result.append(old)
    }
    try fill()
    for step in updates { result[step.to.position] = try row(step.to) }
    rows = result
  }

  /// Turns the old sections into the new ones, as `apply(to:_:)` does with rows.
  public func apply<Row, E: Error>(
    to sections: inout [[Row]], _ row: (Place) throws(E) -> Row
  ) throws(E) {
    for place in (deletes + moves.map(\.from)).sorted(by: { $0.position > $1.position }) {
      sections[place.section].remove(at: place.item)
    }
    for section in deletedSections.reversed() { sections.remove(at: section) }
    for section in insertedSections { sections.insert([], at: section) }
    for place in (inserts + moves.map(\.to)).sorted(by: { $0.position < $1.position }) {
      sections[place.section].insert(try row(place), at: place.item)
    }
    for step in updates { sections[step.to.section][step.to.item] = try row(step.to) }
  }
}

extension ListDiff: CustomStringConvertible {
  /// How many rows were inserted, deleted, moved, and changed without moving.
  public var description: String {
    "\(inserts.count) inserted, \(deletes.count) deleted, \(moves.count) moved, "
      + "\(updates.count) changed"
  }
}
