import Annals
import AnnalsModel

/// All objects by what they hold, without nulls: what a store of notes is compared with.
struct NaiveWorld: Equatable {
  typealias Row = [String: Value]

  var objects: [ObjectReference: Row] = [:]

  /// What becomes of one object that was `base` to both sides; nil where it is not there. Nil for a
  /// conflict that is refused.
  static func merge(_ policy: MergePolicy, base: Row?, own: Row?, stored: Row?) -> Row?? {
    if own == base || own == stored { return .some(stored) }
    if stored == base { return .some(own) }
    switch policy {
    case .error: return nil
    case .overwrite: return .some(own)
    case .rollBack: return .some(stored)
    case .ownWins, .storedWins:
      guard let own, let stored else { return .some(policy == .ownWins ? own : stored) }
      var result: Row = [:]
      for name in Set(own.keys).union(stored.keys) {
        let isMine = own[name] != base?[name]
        let isTheirs = stored[name] != base?[name]
        let lists = [base?[name], own[name], stored[name]]
        if isMine, isTheirs,
          lists.contains(where: { if case .objects = $0 { true } else { false } })
        {
          // Every list of these worlds is ordered.
          let merged = NaiveListMerge(lists.map { $0?.targets ?? [] }, policy == .ownWins).list
          result[name] = merged.isEmpty ? nil : .objects(merged)
          continue
        }
        result[name] = isMine && (!isTheirs || policy == .ownWins) ? own[name] : stored[name]
      }
      return .some(result)
    }
  }

  /// The stored world with what was done to `base` by the write; nil if that is refused.
  static func merge(
    _ policy: MergePolicy, base: NaiveWorld, own: NaiveWorld, stored: NaiveWorld
  ) -> NaiveWorld? {
    var result = stored
    for object in Set(base.objects.keys).union(own.objects.keys) {
      guard
        let merged = merge(
          policy, base: base.objects[object], own: own.objects[object],
          stored: stored.objects[object])
      else { return nil }
      result.objects[object] = merged
    }
    return result
  }

  /// Whether an object refers to one that is not there, and did so neither before the write nor in
  /// the state that it was decided on.
  func hasBadReference(besides stored: NaiveWorld, _ base: NaiveWorld) -> Bool {
    objects.contains { object, row in
      row.contains { name, value in
        let known = Set(
          (stored.objects[object]?[name]?.targets ?? [])
            + (base.objects[object]?[name]?.targets ?? []))
        return value.targets.contains { objects[$0] == nil && !known.contains($0) }
      }
    }
  }

  /// The objects as they read: a reference to what is not there is nothing.
  var visible: [ObjectReference: Row] {
    objects.mapValues { row in
      row.filter { _, value in
        guard case .object(let target) = value else { return true }
        return objects[target] != nil
      }
    }
  }
}

extension NaiveWorld {
  /// What a store's objects are to readers.
  static func visible(in objects: [DynamicObject]) -> [ObjectReference: Row] {
    var result: [ObjectReference: Row] = [:]
    for object in objects {
      var row: Row = [:]
      for (number, value) in object.values {
        if let name = object.entity.propertyName(number) { row[name] = value }
      }
      result[ObjectReference(entity: object.objectID.entity, row: object.objectID.row)] = row
    }
    return result
  }

  /// The first object that is not as it should be, for messages.
  static func difference(
    _ found: [ObjectReference: Row], _ wanted: [ObjectReference: Row]
  ) -> String? {
    for object in Set(found.keys).union(wanted.keys).sorted() where found[object] != wanted[object]
    {
      return "\(object.entity)#\(object.row) is \(text(found[object])), not \(text(wanted[object]))"
    }
    return nil
  }

  private static func text(_ row: Row?) -> String {
    guard let row else { return "not there" }
    let values = row.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.shortDescription)" }
    return values.joined(separator: ", ")
  }
}
