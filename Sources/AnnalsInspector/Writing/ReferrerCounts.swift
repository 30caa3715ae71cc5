import Annals
import AnnalsModel
import AnnalsState

/// How many objects refer to some objects of an entity, by relationship.
///
/// Asks the reference index of a relationship; where there is none, reads that relationship of all
/// objects once.
struct ReferrerCounts {
  /// A relationship that leads to the entity.
  struct Source {
    let entity: Entity
    let relationship: Relationship
    fileprivate(set) var counts: [Int64: Int]
  }

  private(set) var sources: [Source] = []

  init(
    to rows: ContiguousArray<Int64>, of target: Entity, in snapshot: Snapshot,
    _ cancellation: Cancellation
  ) throws {
    let state = snapshot.reader.state
    for entity in snapshot.schema.liveEntities {
      for relationship in entity.relationships
      where !relationship.isRemoved && relationship.destination == target.number {
        var source = Source(entity: entity, relationship: relationship, counts: [:])
        source.counts = try AnnalsError.translating {
          try ReferrerCounts.counts(to: rows, source, in: state, cancellation)
        }
        sources.append(source)
      }
    }
  }

  /// How many refer to the object in this row; one that does so twice counts twice.
  func total(_ row: Int64) -> Int { sources.reduce(0) { $0 + ($1.counts[row] ?? 0) } }

  private static func counts(
    to rows: ContiguousArray<Int64>, _ source: Source, in state: State,
    _ cancellation: Cancellation
  ) throws -> [Int64: Int] {
    var counts: [Int64: Int] = [:]
    let (entity, property) = (source.entity.number, source.relationship.number)
    if let first = rows.first,
      try state.countOfReferrers(to: first, from: entity, by: property) != nil
    {
      for row in rows {
        counts[row] = try state.countOfReferrers(to: row, from: entity, by: property) ?? 0
      }
      return counts
    }
    let wanted = Set(rows)
    try state.forEachReference(from: entity, by: property, cancellation) { _, target in
      if wanted.contains(target) { counts[target, default: 0] += 1 }
    }
    return counts
  }
}

extension State {
  /// Calls `body` with each referring row and the row that it refers to. O(objects).
  func forEachReference(
    from entity: EntityNumber, by property: PropertyNumber, _ cancellation: Cancellation,
    _ body: (_ row: Int64, _ target: Int64) -> Void
  ) throws {
    guard let table = table(entity), let column = table.column(of: property) else { return }
    var rows = table.rows
    var passed = 0
    while let row = try rows.next() {
      passed += 1
      if passed.isMultiple(of: 4_096) { try cancellation.check() }
      try table.withCell(row, column: column) { cell, arena in
        switch cell.tag {
        case .object: body(row, Int64(bitPattern: cell.bits))
        case .objects:
          for object in ObjectReference.list(in: cell.bytes(in: arena)) { body(row, object.row) }
        default: break
        }
      }
    }
  }

  /// The rows that refer to the object in a row by a relationship, rising, each once.
  func referringRows(
    to target: Int64, from entity: EntityNumber, by property: PropertyNumber,
    _ cancellation: Cancellation
  ) throws -> [Int64] {
    if let found = try referrers(to: target, from: entity, by: property) { return found }
    var found: [Int64] = []
    try forEachReference(from: entity, by: property, cancellation) { row, one in
      if one == target, found.last != row { found.append(row) }
    }
    return found
  }
}
