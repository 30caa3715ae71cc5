import AnnalsFormat
import AnnalsInspection
import AnnalsModel

/// Collects the statistics of a file, region by region.
final class StatisticsCollector: VerificationObserver {
  private(set) var statistics = FileStatistics()
  private var shares = ShareTable()
  /// The bytes of authors and months; nil if nobody asked for them.
  var division: HistoryDivision?
  private var authors: [NameNumber: Int64] = [:]
  /// The lengths of chunk and directory frames by offset. Which are dead is known at the end.
  private var checkpointFrames: [UInt64: UInt64] = [:]
  private var lastTimestamp: Timestamp?
  /// Large values that are counted with a property.
  private var knownLargeValues: Set<UInt64> = []

  init(fileSize: UInt64, header: FileHeader?) {
    statistics.fileSize = fileSize
    statistics.header = header
  }

  /// Counts a region without transactions and checkpoints.
  func count(_ region: FileRegion, as use: ByteUse) {
    statistics.bytesByUse[use, default: 0] += region.length
  }

  /// Counts a frame that announces features.
  func count(_ announced: Features, in region: FileRegion) {
    statistics.announced.formUnion(announced)
    count(region, as: .header)
  }

  /// Counts a chunk or a directory.
  func countCheckpointFrame(_ region: FileRegion) {
    checkpointFrames[region.offset] = region.length
  }

  /// Counts a frame whose transactions are in the batch.
  func count(_ batch: ChangeBatch, in region: FileRegion) {
    let isPart = batch.transactions.first.map { $0.part > 0 || $0.isContinued } ?? true
    let isSealed = region.frame?.header.kind == .block && !isPart && batch.transactions.count > 1
    count(region, as: isSealed ? .sealed : .live)
    for record in batch.transactions where record.part == 0 { count(record) }
    for change in batch.changes { statistics.changesByKind[change.kind, default: 0] += 1 }
    shares.add(batch, length: region.length)
    division?.add(batch, length: region.length)
    countLargeValues(batch)
  }

  private func count(_ record: TransactionRecord) {
    statistics.transactions += 1
    if record.changeCount == 0, !record.isContinued, record.schemaChange.isEmpty {
      statistics.emptyTransactions += 1
    }
    if ExtensionArea.has(ExtensionArea.clockJump, in: record.extensions) {
      statistics.clockJumps += 1
    }
    authors[record.author, default: 0] += 1
    let time = record.timestamp
    if let lastTimestamp, time < lastTimestamp { statistics.timestampsBack += 1 }
    lastTimestamp = time
    statistics.earliest = min(statistics.earliest ?? time, time)
    statistics.latest = max(statistics.latest ?? time, time)
  }

  private func countLargeValues(_ batch: ChangeBatch) {
    batch.arena.withUnsafeBytes { arena in
      for change in batch.changes {
        for property in batch.properties[change.propertyRange] {
          for cell in [property.before, property.after] where cell.isLarge {
            guard case .large(let value) = cell.value(in: arena),
              knownLargeValues.insert(value.number).inserted
            else { continue }
            shares.add(largeValue: value.length, entity: change.entity, property: property.property)
          }
        }
      }
    }
  }

  func end(
    base: CheckpointDirectory?, newest: CheckpointDirectory?, offsets: Set<UInt64>,
    vocabulary: Vocabulary
  ) {
    var used = offsets
    // What both refer to counts once.
    for (reference, role) in [newest, base].compactMap({ $0 }).flatMap(\.chunks)
    where used.insert(reference.offset).inserted {
      guard let length = checkpointFrames[reference.offset] else { continue }
      if let (entity, property) = role.part {
        shares.add(state: length, entity: entity, property: property)
      }
    }
    for (offset, length) in checkpointFrames {
      statistics.bytesByUse[used.contains(offset) ? .checkpoints : .dead, default: 0] += length
    }
    statistics.clockJumps += base?.clockJumps ?? 0
    statistics.openings = vocabulary.openings.count
    statistics.authors = StatisticsCollector.ranked(authors, vocabulary)
    statistics.shares = shares.ranked(vocabulary)
    if let division {
      statistics.historyByAuthor = division.authors.sorted { $0.value.bytes > $1.value.bytes }
        .map { number, sum in
          (
            number == 0 ? nil : vocabulary.names[number] ?? "\(number)", UInt64(sum.bytes),
            sum.transactions
          )
        }
      statistics.historyByMonth = division.months.sorted { $0.key < $1.key }.map { month, sum in
        (month.text, UInt64(sum.bytes), sum.transactions)
      }
    }
  }

  private static func ranked(
    _ counts: [NameNumber: Int64], _ vocabulary: Vocabulary
  ) -> [(name: String?, transactions: Int64)] {
    counts.sorted { $0.value != $1.value ? $0.value > $1.value : $0.key < $1.key }
      .map { number, count in
        (number == 0 ? nil : vocabulary.names[number] ?? "\(number)", count)
      }
  }
}

extension ChunkRole {
  /// The entity and property whose state the chunk holds: no property for rows; nil for what is of
  /// no entity.
  fileprivate var part: (entity: EntityNumber, property: PropertyNumber?)? {
    switch self {
    case .rows(let entity), .references(let entity, 0): (entity, nil)
    case .column(let entity, let property), .index(let entity, let property),
      .references(let entity, let property):
      (entity, property)
    case .names, .openings, .largeValues, .schemaHistory, .historyIndex, .segmentObjects,
      .projection:
      nil
    }
  }
}
