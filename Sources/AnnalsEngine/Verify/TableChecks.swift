import AnnalsFormat
import AnnalsLog
import AnnalsModel

/// Compares the tables of the newest checkpoint with the transactions themselves: names, openings,
/// schema changes, and the history index.
///
/// Wrong tables cause wrong authors, past states with another schema, searches by date that end
/// elsewhere, and searches by entity or object that skip changes. Reports the first contradiction
/// of each table.
struct TableChecks {
  /// What was found.
  private(set) var findings: [StoreFinding] = []
  /// The greatest row of each entity that a transaction so far has changed. (The base may claim
  /// more: a prune gives it the next rows of the newest state.)
  private(set) var givenRows: [EntityNumber: Int64] = [:]

  private let names: [String]
  private let openings: [Opening]
  private let schemaHistory: [SchemaHistoryEntry]
  private let index: [HistoryIndexEntry]
  private let view: LogView
  /// The objects of the index's segment, if they are known.
  private var objects: ContiguousArray<RowRange>?
  /// The positions in the schema history and the index.
  private var schemaPlace = 0
  private var indexPlace = 0
  /// The greatest timestamp of the transactions of the index's segment so far.
  private var segmentMaximum = Timestamp.min
  private var isNamesRight = true
  private var isOpeningsRight = true
  private var isSchemaRight = true
  private var isIndexRight = true

  /// Begins at the base. Reads the chunks of the history index; throws if one is damaged.
  init(_ view: LogView) throws {
    names = view.names
    openings = view.openings
    schemaHistory = view.schemaHistory
    index = try view.historyIndex()
    self.view = view
    if let atBase = try view.baseDirectory()?.schema.entities, !atBase.isEmpty {
      compareSchema(SchemaHistoryEntry(number: view.base, schema: atBase))
    }
    for (place, opening) in openings.enumerated() where Int64(opening.number) != Int64(place) + 1 {
      tellOpening("opening \(place + 1) as number \(opening.number)")
      break
    }
    if let atBase = try view.namesAtBase() { compare(atBase) }
  }

  /// Compares the next transaction, or part of one.
  mutating func compare(_ record: TransactionRecord, in batch: ChangeBatch) {
    if record.part == 0 {
      compareNames(record)
      compareOpenings(record)
      if !record.schemaChange.isEmpty {
        compareSchema(SchemaHistoryEntry(number: record.number, change: record.schemaChange))
      }
      enterSegment(of: record)
      segmentMaximum = max(segmentMaximum, record.timestamp)
    }
    compareEntities(record, in: batch)
  }

  /// Reports entries of the tables that no transaction has. Call it at the end of the history.
  mutating func reportMissingEntries() {
    if isSchemaRight, schemaPlace < schemaHistory.count {
      tellSchema("a change at transaction \(schemaHistory[schemaPlace].number), which has none")
    }
    compareSegmentMaximum()
    if isIndexRight, indexPlace < index.count {
      tellIndex("transaction \(index[indexPlace].firstNumber), which no frame begins with")
    }
  }
}

extension TableChecks {
  /// Compares with the base's own tables, which rewrites use, and openings without the checkpoint.
  private mutating func compare(_ atBase: (names: [String], openings: [Opening])) {
    for (place, name) in atBase.names.enumerated()
    where !names.indices.contains(place) || !names[place].utf8.elementsEqual(name.utf8) {
      isNamesRight = false
      tell("have another name \(place + 1) than the base")
      break
    }
    for (place, opening) in atBase.openings.enumerated()
    where !openings.indices.contains(place) || openings[place] != opening {
      tellOpening("another opening \(place + 1) than the base")
      break
    }
  }

  private mutating func compareNames(_ record: TransactionRecord) {
    guard isNamesRight else { return }
    for (place, name) in record.newNames.enumerated() {
      let number = Int(record.firstNewName) + place
      if names.indices.contains(number - 1), names[number - 1].utf8.elementsEqual(name.utf8) {
        continue
      }
      isNamesRight = false
      return tell("have another name \(number) than transaction \(record.number) gave it")
    }
  }

  private mutating func compareOpenings(_ record: TransactionRecord) {
    for opening in record.openings {
      let place = Int(opening.number) - 1
      if openings.indices.contains(place), openings[place] == opening { continue }
      return tellOpening("another opening \(opening.number) than transaction \(record.number)")
    }
  }

  private mutating func compareSchema(_ entry: SchemaHistoryEntry) {
    guard isSchemaRight else { return }
    guard schemaPlace < schemaHistory.count, schemaHistory[schemaPlace] == entry else {
      return tellSchema("another change than transaction \(entry.number)")
    }
    schemaPlace += 1
  }

  private mutating func enterSegment(of record: TransactionRecord) {
    guard isIndexRight, indexPlace < index.count else { return }
    let entry = index[indexPlace]
    guard entry.firstNumber <= record.number else { return }
    compareSegmentMaximum()
    segmentMaximum = .min
    // What cannot be read is told where the bytes are checked, and skips nothing.
    objects = try? view.objects(ofSegment: indexPlace)?.ranges()
    indexPlace += 1
    if entry.firstNumber != record.number {
      tellIndex("transaction \(entry.firstNumber), which no frame begins with")
    }
  }

  /// Compares the greatest timestamp of the segment that ends.
  private mutating func compareSegmentMaximum() {
    guard isIndexRight, indexPlace > 0 else { return }
    let entry = index[indexPlace - 1]
    if entry.maximumTimestamp == segmentMaximum { return }
    tellIndex(
      "\(entry.maximumTimestamp) as the greatest timestamp from transaction "
        + "\(entry.firstNumber) on, which is \(segmentMaximum)")
  }

  private mutating func compareEntities(_ record: TransactionRecord, in batch: ChangeBatch) {
    var entity: EntityNumber = 0
    var greatest: Int64 = 0
    for change in batch.changes[record.changeRange] {
      if change.entity != entity {
        note(greatest, of: entity)
        entity = change.entity
        greatest = 0
        findInIndex(entity, record)
      }
      greatest = max(greatest, change.row)
      if let objects, !objects.isEmpty { find(change, in: objects, record) }
    }
    note(greatest, of: entity)
  }

  private mutating func find(
    _ change: ChangeEntry, in objects: ContiguousArray<RowRange>, _ record: TransactionRecord
  ) {
    guard isIndexRight else { return }
    let place = objects.rank {
      $0.entity != change.entity ? $0.entity < change.entity : $0.first <= change.row
    }
    if place > 0, objects[place - 1].entity == change.entity,
      objects[place - 1].last >= change.row
    {
      return
    }
    tellIndex("no object \(change.entity)#\(change.row) where \(record.number) changes it")
  }

  private mutating func note(_ row: Int64, of entity: EntityNumber) {
    if row > 0, givenRows[entity] ?? 0 < row { givenRows[entity] = row }
  }

  private mutating func findInIndex(_ entity: EntityNumber, _ record: TransactionRecord) {
    guard isIndexRight else { return }
    if indexPlace > 0, index[indexPlace - 1].entities.contains(entity) { return }
    tellIndex("no entity \(entity) where transaction \(record.number) changes it")
  }

  private mutating func tellOpening(_ what: String) {
    guard isOpeningsRight else { return }
    isOpeningsRight = false
    tell("have \(what)")
  }

  private mutating func tellSchema(_ what: String) {
    isSchemaRight = false
    tell("have, in the schema history, \(what)")
  }

  private mutating func tellIndex(_ what: String) {
    isIndexRight = false
    tell("have, in the history index, \(what)")
  }

  private mutating func tell(_ what: String) {
    findings.append(
      StoreFinding(
        severity: .error,
        message:
          "the tables of the newest checkpoint \(what). Compacting to the smallest file drops it; "
          + "opening then goes by the history"))
  }
}
