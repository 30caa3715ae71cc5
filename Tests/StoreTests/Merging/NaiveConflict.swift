import Annals
import AnnalsModel

/// A conflict of a merge as it is to be told, worked out from the worlds after each transaction.
struct NaiveConflict {
  let object: ObjectReference
  let property: String
  /// Nil where the object is not there.
  let base: Value?
  let stored: Value?
  let own: Value?
  let changedBy: Int64?
  let isDeletion: Bool
  let name: String

  /// Everything that it tells.
  var text: String {
    func text(_ value: Value?) -> String { value.map { "\($0.shortDescription)" } ?? "nothing" }
    return "\(object.entity)#\(object.row) \(name).\(property): \(text(base)), \(text(stored)), "
      + "\(text(own)); \(isDeletion ? "deleted" : "changed") by \(changedBy ?? 0)"
  }
}

extension NaiveConflict {
  /// What a conflict tells.
  init(_ conflict: PropertyConflict) {
    self.init(
      object: ObjectReference(conflict.object), property: conflict.property ?? "-",
      base: conflict.base, stored: conflict.stored, own: conflict.own,
      changedBy: conflict.changedBy, isDeletion: conflict.isDeletion, name: conflict.objectName)
  }

  /// The conflicts of a write that has made `own` of the first world; the last one is stored.
  static func all(
    _ policy: MergePolicy, own: NaiveWorld, worlds: [NaiveWorld], first: Int64
  ) -> [NaiveConflict] {
    guard let base = worlds.first, let stored = worlds.last else { return [] }
    var result: [NaiveConflict] = []
    for object in Set(base.objects.keys).union(own.objects.keys).sorted() {
      let rows = [base, stored, own].map { $0.objects[object] }
      for name in properties(policy, rows[0], stored: rows[1], own: rows[2]) {
        func value(_ row: NaiveWorld.Row?) -> Value? { row.map { $0[name] ?? .null } }
        let change = lastChange(of: name, in: worlds.map { $0.objects[object] }, first: first)
        let row = rows[1] ?? worlds.compactMap { $0.objects[object] }.last
        let key = row?["id"] ?? row?["name"] ?? .null
        result.append(
          NaiveConflict(
            object: object, property: name, base: value(rows[0]), stored: value(rows[1]),
            own: value(rows[2]), changedBy: change?.number, isDeletion: change?.isDeletion ?? false,
            name: "\(object.entity == 1 ? "Note" : "Folder")/\(key.plainText)"))
      }
    }
    return result
  }

  /// The properties of one object in which both sides are in each other's way.
  private static func properties(
    _ policy: MergePolicy, _ base: NaiveWorld.Row?, stored: NaiveWorld.Row?, own: NaiveWorld.Row?
  ) -> [String] {
    guard let base, own != base, stored != base, own != stored else { return [] }
    func differences(_ a: NaiveWorld.Row, _ b: NaiveWorld.Row) -> Set<String> {
      Set(a.keys).union(b.keys).filter { a[$0] != b[$0] }
    }
    // Of a deleted object those are told that the other side has changed.
    guard let own else { return differences(base, stored ?? [:]).sorted() }
    guard let stored else { return differences(base, own).sorted() }
    let (mine, theirs) = (differences(base, own), differences(base, stored))
    let different = differences(own, stored)
    switch policy {
    case .error: return different.sorted()
    case .storedWins, .ownWins:
      return mine.intersection(theirs).intersection(different).sorted().filter { name in
        let lists = [base[name], own[name], stored[name]]
        guard lists.contains(where: { if case .objects = $0 { true } else { false } }) else {
          return true
        }
        // Both lists are united but for what both have moved.
        return NaiveListMerge(lists.map { $0?.targets ?? [] }, policy == .ownWins).isConflicting
      }
    case .overwrite: return theirs.intersection(different).sorted()
    case .rollBack: return mine.intersection(different).sorted()
    }
  }

  /// The transaction that changed a property last; the one that deleted the object, if that is the
  /// newest of all.
  private static func lastChange(
    of name: String, in rows: [NaiveWorld.Row?], first: Int64
  ) -> (number: Int64, isDeletion: Bool)? {
    var whole: (number: Int64, isDeletion: Bool)?
    for place in rows.indices.dropFirst().reversed() where rows[place] != rows[place - 1] {
      let change = (number: first + Int64(place), isDeletion: rows[place] == nil)
      if whole == nil { whole = change }
      if change.isDeletion, whole?.number == change.number { return change }
      if rows[place]?[name] != rows[place - 1]?[name] { return change }
    }
    return whole
  }
}
