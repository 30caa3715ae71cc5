import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsStorage

/// Describes regions one after another. Learns names from transactions and directories on the way.
package struct FrameDescription: Sendable {
  /// The names learnt so far.
  package private(set) var vocabulary = Vocabulary()
  /// The greatest number of changes, or of items of another list, in one description.
  package var maximumItems = 20
  private var batch = ChangeBatch()
  private var hasLearntTables = false
  private var hasSoughtBase = false

  package init() {}

  /// Descriptions with these names, for a walk that begins in the middle.
  package init(knowing vocabulary: Vocabulary) {
    self.vocabulary = vocabulary
    hasLearntTables = true
  }

  /// Describes a region of the walk, its frame's payload decoded. Memory: one frame.
  package mutating func describe(
    _ region: FileRegion, in walk: inout FileWalk
  ) throws(StorageError) -> RegionDescription {
    var result = RegionDescription(outlineOf: region)
    guard let frame = region.frame else { return result }
    if frame.header.kind == .tombstones { try learnBase(in: walk) }
    // A damaged payload is decoded as far as possible, but no name is learnt from it.
    let decoded = try walk.decode(frame, in: region) { (payload, _) throws(DecodeFault) in
      try decode(payload, of: frame, into: &result)
    }
    if let fault = decoded.fault {
      if fault.isNewer {
        result.checksum += ", but \(fault)"
      } else if frame.payload == .valid {
        result.checksum += ", but the payload is not valid: \(fault)"
      }
      result.hasProblem = true
    }
    // Names are learnt from the first directory alone. Transactions behind it bring new ones, and a
    // crafted file may have many directories with the same huge table.
    if case .success(let tables?) = decoded, frame.payload == .valid, !hasLearntTables {
      try learn(tables, in: walk)
    }
    return result
  }

  private mutating func learn(
    _ tables: CheckpointDirectory, in walk: FileWalk
  ) throws(StorageError) {
    hasLearntTables = true
    let names = try walk.frames?.entries(of: tables.names)
    let openings = try walk.frames?.entries(of: tables.openings)
    vocabulary.learn(tables.schema, names: names ?? [], openings: openings ?? [])
  }

  /// Learns names from the base's directory, which follows its tombstones in the file.
  private mutating func learnBase(in walk: FileWalk) throws(StorageError) {
    guard !hasLearntTables, !hasSoughtBase, case .valid(let header) = walk.header,
      header.baseCheckpointOffset != 0
    else { return }
    hasSoughtBase = true
    let base = try walk.frames?.directory(at: header.baseCheckpointOffset)
    if let base { try learn(base, in: walk) }
  }

  private mutating func decode(
    _ payload: UnsafeRawBufferPointer, of frame: InspectedFrame,
    into result: inout RegionDescription
  ) throws(DecodeFault) -> CheckpointDirectory? {
    switch frame.header.kind.role {
    case .transactions:
      batch.removeAll()
      try frame.header.decodeTransactions(payload, into: &batch)
      if frame.payload == .valid { for record in batch.transactions { vocabulary.learn(record) } }
      if frame.header.kind == .transaction {
        describeTransaction(into: &result)
      } else {
        describeBlock(into: &result)
      }
    case .largeValue:
      let part = try LargeValueCodec.decode(payload)
      result.add("number", part.number)
      result.add("value length", part.totalLength)
      result.add("piece begins at", part.start)
      result.add(part.base == nil ? "piece length" : "length of steps", part.count)
      if let base = part.base { result.add("based on large value", base) }
      if part.isDeflated { result.add("piece stored", "deflated") }
    case .chunk:
      result.add("crc32", Hex.text(Checksum.crc32(payload)))
      result.add("holds", ChunkGuess(payload)?.text(vocabulary) ?? "nothing known")
    case .checkpoint:
      let directory = try CheckpointDirectory.decode(payload)
      describe(directory, into: &result)
      return directory
    case .sideRecord:
      let kind = frame.header.kind
      describe(try SideRecord(payload, of: kind, flags: frame.header.flags), into: &result)
    case .tombstones:
      try TombstoneCodec.decode(payload, flags: frame.header.flags, into: &batch)
      describeTombstones(into: &result)
    case .announcement:
      var reader = ByteReader(payload)
      result.add(try Features(&reader), "announced")
      _ = try Features(announcement: payload, flags: frame.header.flags)
    case .unknown: break
    }
    return nil
  }
}

// Side records.
extension FrameDescription {
  private func describe(_ record: SideRecord, into result: inout RegionDescription) {
    switch record {
    case .consumerChange(let change): describe(change, into: &result)
    case .retention(let policy): result.add("retention", "\(policy)")
    }
  }

  private func describe(_ change: ConsumerChange, into result: inout RegionDescription) {
    let name = QuotedText.short(change.name)
    guard case .set(let consumer) = change else { return result.add("consumer", "\(name) removed") }
    var parts = ["\(name) at \(consumer.number)"]
    if consumer.openingID != 0 {
      parts.append("opening id \(String(consumer.openingID, radix: 16))")
    }
    if !consumer.kind.isEmpty {
      parts.append("kind \(QuotedText.short(consumer.kind))")
    }
    if consumer.isBlocking { parts.append("blocking") }
    parts += ["registered \(consumer.registered)", "last seen \(consumer.lastSeen)"]
    if let expiry = consumer.expiry(since: consumer.lastSeen) { parts.append("lease to \(expiry)") }
    result.add("consumer", parts.joined(separator: ", "))
  }
}

// Tombstones.
extension FrameDescription {
  private func describeTombstones(into result: inout RegionDescription) {
    result.add("tombstones", batch.changes.count)
    var rest = maximumItems
    batch.arena.withUnsafeBytes { arena in
      for record in batch.transactions where rest > 0 {
        let author = record.author == 0 ? "" : ", author \(vocabulary.nameText(record.author))"
        result.add("transaction", "\(record.number), \(record.timestamp)\(author)")
        for change in batch.changes[record.changeRange].prefix(rest) {
          result.add("deleted", text(of: change, in: arena))
        }
        rest -= Int(record.changeCount)
      }
    }
    let more = batch.changes.count - maximumItems
    if more > 0 { result.add("more tombstones", more) }
  }
}

// Transactions.
extension FrameDescription {
  private func describeTransaction(into result: inout RegionDescription) {
    guard let record = batch.transactions.first else { return }
    result.add("number", record.number)
    result.add("timestamp", record.timestamp.description)
    describeDetails(of: record, into: &result)
    result.add("changes", record.changeCount)
    batch.arena.withUnsafeBytes { arena in
      for change in batch.changes[record.changeRange].prefix(maximumItems) {
        result.add("change", text(of: change, in: arena))
      }
    }
    let more = Int(record.changeCount) - maximumItems
    if more > 0 { result.add("more changes", more) }
  }

  private func describeDetails(
    of record: TransactionRecord, into result: inout RegionDescription
  ) {
    if let lost = record.lost {
      result.add("lost", "\(lost)")
      result.add("salvaged", lost.salvaged.description)
      if let before = lost.before { result.add("next timestamp", before.description) }
      result.add("state behind", lost.isExact ? "exact" : "as far as known")
      result.add("reason", QuotedText.short(lost.reason))
      for count in lost.stale.prefix(maximumItems) {
        result.add(
          "may be stale", "\(count.objects) of \(vocabulary.entityText(count.entity))")
      }
      for opening in lost.openings.prefix(maximumItems) { result.add("opening", opening.text) }
    }
    if record.author != 0 { result.add("author", vocabulary.nameText(record.author)) }
    if record.context != 0 { result.add("context", vocabulary.nameText(record.context)) }
    if record.opening != 0 { result.add("opening", record.opening) }
    for (index, name) in record.newNames.prefix(maximumItems).enumerated() {
      let number = Int64(record.firstNewName) + Int64(index)
      result.add("new name", "\(number) \(QuotedText.short(name))")
    }
    if let opening = record.newOpening { result.add("new opening", opening.text) }
    for entry in record.metadata.prefix(maximumItems) {
      let value = ValueText.text(entry.value, vocabulary: vocabulary)
      result.add("metadata", "\(QuotedText.short(entry.key)) \(value)")
    }
    for change in record.schemaChange.prefix(maximumItems) {
      let entity = change.definition
      let count = entity.attributes.count + entity.relationships.count
      let name = QuotedText.short(entity.name)
      result.add(
        "schema change",
        "entity \(entity.number) \(name), \(count) \(count == 1 ? "property" : "properties")"
          + (change.isPartial ? " new or changed" : "")
          + (entity.isRemoved ? ", removed" : ""))
    }
    if let erasure = ErasureCodec.erasure(of: record) {
      for target in erasure.targets.prefix(maximumItems) {
        let object = "\(vocabulary.entityText(target.object.entity))#\(target.object.row)"
        let names = target.properties.map {
          vocabulary.propertyText($0, of: target.object.entity)
        }
        result.add("erased", names.isEmpty ? object : "\(object) \(names.joined(separator: ", "))")
      }
      result.add("reason", QuotedText.short(erasure.reason))
    }
    let undo = UndoCodec.undo(of: record)
    if let group = undo.group { result.add("group", QuotedText.short(group)) }
    switch undo.act {
    case .undoes(let numbers): result.add("undoes", UndoRecord.text(of: numbers))
    case .redoes(let number): result.add("redoes", number)
    case nil: break
    }
    for name in MigrationCodec.names(of: record) {
      result.add("migration", QuotedText.short(name))
    }
    if !record.extensions.isEmpty { result.add("extensions", record.extensions.count) }
  }

  /// `+ Post#7 title "Fog", …`.
  private func text(of change: ChangeEntry, in arena: UnsafeRawBufferPointer) -> String {
    let mark =
      switch change.kind {
      case .insert: "+"
      case .update: "~"
      case .delete: "-"
      }
    let properties = batch.properties[change.propertyRange]
    var parts = properties.prefix(maximumItems).map { property in
      let name = vocabulary.propertyText(property.property, of: change.entity)
      func text(_ cell: ValueCell) -> String {
        ValueText.text(cell, in: arena, isEdits: property.isEdits, vocabulary: vocabulary)
      }
      return switch change.kind {
      case .insert: "\(name) \(text(property.after))"
      case .update: "\(name) \(text(property.before)) → \(text(property.after))"
      case .delete: "\(name) \(text(property.before))"
      }
    }
    if properties.count > maximumItems { parts.append("… \(properties.count - maximumItems) more") }
    let object = "\(mark) \(vocabulary.entityText(change.entity))#\(change.row)"
    return parts.isEmpty ? object : "\(object)  \(parts.joined(separator: ", "))"
  }

  private func describeBlock(into result: inout RegionDescription) {
    guard let first = batch.transactions.first, let last = batch.transactions.last else { return }
    result.add("first number", first.number)
    result.add("last number", last.number)
    if first.part > 0 || first.isContinued { result.add("part", first.part) }
    result.add("transactions", batch.transactions.count)
    result.add("first timestamp", first.timestamp.description)
    result.add("last timestamp", last.timestamp.description)
    if batch.transactions.count == 1 {
      describeDetails(of: first, into: &result)
    } else {
      let authors = Set(batch.transactions.map(\.author)).subtracting([0]).sorted()
      for author in authors.prefix(maximumItems) {
        result.add("author", vocabulary.nameText(author))
      }
      let contexts = Set(batch.transactions.map(\.context)).subtracting([0]).sorted()
      for context in contexts.prefix(maximumItems) {
        result.add("context", vocabulary.nameText(context))
      }
    }
    result.add("changes", batch.changes.count)
    var counts: [EntityNumber: [ChangeKind: Int]] = [:]
    for change in batch.changes {
      counts[change.entity, default: [:]][change.kind, default: 0] += 1
    }
    for (entity, kinds) in counts.sorted(by: { $0.key < $1.key }).prefix(maximumItems) {
      let text = ChangeKind.allCases.compactMap { kind in kinds[kind].map { "\($0) \(kind)" } }
      let name = vocabulary.entityText(entity)
      result.add("changes of", "\(name): \(text.joined(separator: ", "))")
    }
  }
}

extension Opening {
  /// `1, id 2a, by sharectl[311]`.
  var text: String {
    "\(number), id \(String(id, radix: 16)), by "
      + (processName.isEmpty ? "a process without name" : "\(processName)[\(processID)]")
  }
}

// Checkpoints.
extension FrameDescription {
  private func describe(
    _ directory: CheckpointDirectory, into result: inout RegionDescription
  ) {
    result.add("number", directory.number)
    if directory.isBase { result.add("base", "yes") }
    result.add("timestamp", directory.timestamp.description)
    if directory.maximumTimestamp != .min {
      result.add("greatest timestamp", directory.maximumTimestamp.description)
    }
    if directory.openingID != 0 { result.add("opening id", String(directory.openingID, radix: 16)) }
    result.add("changes", directory.changeCount)
    if directory.clockJumps != 0 { result.add("clock jumps", directory.clockJumps) }
    for migration in directory.migrations.prefix(maximumItems) {
      result.add("migration", "\(QuotedText.short(migration.name)), by \(migration.number)")
    }
    if let previous = directory.previousCheckpoint {
      result.add("checkpoint before", "\(previous.offset), as of \(previous.number)")
    }
    for saved in (directory.projections?.list ?? []).prefix(maximumItems) {
      result.add(
        "projection",
        "\"\(saved.name)\", version \(saved.version), as of \(saved.number), at "
          + "\(saved.chunk.offset)")
    }
    result.add("names", directory.names.count)
    result.add("openings", directory.openings.count)
    result.add("large values", directory.largeValues.count)
    result.add("next large value", directory.nextLargeValueNumber)
    result.add("schema changes", directory.schemaHistory.count)
    result.add("history index", directory.historyIndex.count)
    if let objects = directory.segmentObjects {
      result.add(
        "objects of segments", "\(objects.table.count), from segment \(objects.firstSegment)")
    }
    for lost in directory.gaps.prefix(maximumItems) { result.add("lost", "\(lost)") }
    for consumer in directory.side.consumers.list.prefix(maximumItems) {
      describe(.set(consumer), into: &result)
    }
    if let kept = directory.tombstones {
      result.add("tombstones", "\(kept.count), all after \(kept.completeAfter)")
    }
    let retention = directory.side.retention
    if !retention.isOff { describe(.retention(retention), into: &result) }
    for entity in directory.entities.prefix(maximumItems) {
      let name = directory.schema.entity(numbered: entity.entity)?.name ?? "entity \(entity.entity)"
      let listed = entity.lists.reduce(0) { $0 + Int($1.reference.count) }
      let chunks = listed + entity.rows.count + entity.columns.reduce(0) { $0 + $1.chunks.count }
      result.add(
        "state of",
        "\(name): \(entity.liveCount) objects, next row \(entity.nextRow), "
          + "\(entity.columns.count) columns, \(chunks) chunks, \(entity.indexes.count) indexes")
    }
  }
}
