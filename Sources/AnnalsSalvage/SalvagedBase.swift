import AnnalsEngine
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

/// The base of the new file: the old base, copied or rebuilt, or else the empty state, with a gap
/// behind it.
struct SalvagedBase {
  var number: Int64 = 0
  /// The state at the base; nil for the empty state.
  var state: State?
  /// What the log knew at the base; nil for the empty state.
  var log: LogBase?
  /// Large values before this offset belong to the base.
  var offset: UInt64 = 0
  /// Whether the state was rebuilt from a later checkpoint.
  var isRebuilt = false
  /// Why everything before the first transaction is missing; nil if it is not.
  var damage: String?
  /// The readable part of the state at a damaged base.
  var remains: State?

  /// Finds the base of the file.
  static func find(
    _ survey: SalvageSurvey, _ states: DamagedStates, _ file: any StorageFile
  ) throws -> SalvagedBase {
    let place = survey.checkpoints.first(where: \.isBase)
    let number = survey.header?.base ?? place?.number
    guard let number else {
      var base = SalvagedBase()
      if let first = survey.runs.first?.first, first > 1 {
        base.damage = "the header is damaged, and nothing tells what came before"
      }
      return base
    }
    if number == 0 { return SalvagedBase() }
    let directory = try place.flatMap { try states.source.directory(at: $0.offset) }
    let loaded = try directory.flatMap { try states.load($0) }
    if let directory, let loaded, loaded.isWhole, let place,
      var base = try SalvagedBase(directory, loaded.state, states)
    {
      base.offset = place.offset
      return base
    }
    if let base = try rebuild(number, directory, survey, states, file) { return base }
    return SalvagedBase(damaged: number, remains: loaded?.state)
  }

  /// The base from an intact directory; nil if its tables cannot be read.
  private init?(
    _ directory: CheckpointDirectory, _ state: State, _ states: DamagedStates
  ) throws {
    guard let names = try states.source.entries(of: directory.names),
      let openings = try states.source.entries(of: directory.openings)
    else { return nil }
    // Transactions refer to openings by their position in the table.
    let renumbered = openings.enumerated().map { place, opening in
      var renumbered = opening
      renumbered.number = OpeningNumber(place + 1)
      return renumbered
    }
    self.state = state
    number = directory.number
    log = LogBase(directory, names: names, openings: renumbered)
  }

  private init() {}

  /// The empty state in place of the damaged base `number`, with the readable part of its state.
  init(damaged number: Int64, remains: State?) {
    damage =
      "the state at the base, transaction \(number), is damaged; what came before had been pruned"
    self.remains = remains
  }

  /// Rebuilds the base from a later checkpoint by undoing all transactions in between; nil if one
  /// of them, or the checkpoint, cannot be read.
  private static func rebuild(
    _ number: Int64, _ old: CheckpointDirectory?, _ survey: SalvageSurvey, _ states: DamagedStates,
    _ file: any StorageFile
  ) throws -> SalvagedBase? {
    guard let run = survey.runs.first, run.first == number + 1 else { return nil }
    for place in survey.checkpoints
    where !place.isBase && place.number > number && place.number <= run.last {
      guard let directory = try states.source.directory(at: place.offset),
        let loaded = try states.load(directory), loaded.isWhole,
        var base = try SalvagedBase(directory, loaded.state, states)
      else { continue }
      do {
        base.state = try states.undo(loaded.state, directory, to: number, through: run, in: file)
      } catch is TransactionMisfit {
        continue
      }
      try base.dropNames(addedBy: run, file)
      base.number = number
      let maximum = survey.header?.baseTimestamp ?? old?.maximumTimestamp
      base.log?.position = LogPosition(
        number: number, timestamp: old?.timestamp ?? maximum ?? run.firstTimestamp,
        maximumTimestamp: maximum ?? run.firstTimestamp, openingID: old?.openingID ?? 0)
      base.log?.gaps = directory.gaps.filter { $0.last <= number }
      base.log?.migrations.removeAll { $0.number > number }
      base.log?.nextLargeValueNumber = old?.nextLargeValueNumber ?? 1
      base.offset = run.firstOffset
      base.isRebuilt = true
      return base
    }
    return nil
  }

  /// Removes the names and openings that the transactions of a run added.
  private mutating func dropNames(
    addedBy run: SalvageSurvey.Run, _ file: any StorageFile
  ) throws {
    var names = NumberDemand()
    var openings = NumberDemand()
    try run.forEachBatch(in: file) { batch, _ in
      for record in batch.transactions where record.part == 0 {
        if !record.newNames.isEmpty { names.note(new: Int64(record.firstNewName)) }
        if let opening = record.openings.first {
          openings.note(new: Int64(opening.number))
        }
      }
    }
    let known = (log?.names ?? [], log?.openings ?? [])
    if names.hasNew { log?.names = Array(known.0.prefix(Int(names.count))) }
    if openings.hasNew { log?.openings = Array(known.1.prefix(Int(openings.count))) }
  }
}

extension DamagedStates {
  /// The state as of `number`: that of a later checkpoint, with the transactions of a run undone.
  /// Throws `TransactionMisfit` if one of them does not fit.
  func undo(
    _ state: State, _ directory: CheckpointDirectory, to number: Int64,
    through run: SalvageSurvey.Run, in file: any StorageFile
  ) throws -> State? {
    var state = state
    var offsets: [UInt64] = []
    var cursor = try ReadableTransactions(file, from: run.firstOffset, first: run.frameFirst)
    while let item = try cursor.next() {
      guard case .transactions(let offset) = item, let first = cursor.batch.transactions.first
      else { continue }
      if first.number > directory.number { break }
      offsets.append(offset)
    }
    for offset in offsets.reversed() {
      guard let batch = try source.transactions(at: offset) else { return nil }
      for record in batch.transactions.reversed()
      where record.number > number && record.number <= directory.number {
        try state.apply(record, of: batch, direction: .backward)
        if record.part == 0, !record.schemaChange.isEmpty {
          guard let schema = try schema(at: record.number - 1, in: directory) else { return nil }
          state.setSchema(schema)
        }
      }
    }
    return try state.collisions().isEmpty ? state : nil
  }
}
