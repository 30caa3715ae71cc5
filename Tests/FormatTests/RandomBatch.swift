import AnnalsModel
import AnnalsTestSupport

/// Batches of every kind of change and value, from a seed.
struct RandomBatch {
  var random: SeededRandom
  /// Whether the values of a property are mostly of one kind, as in real stores.
  var isRegular = true

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  /// A batch of `transactions` transactions whose numbers begin at `first`.
  mutating func make(transactions: Int, first: Int64 = 1, changes: Int = 6) -> ChangeBatch {
    var batch = ChangeBatch()
    for index in 0..<transactions {
      let time = Timestamp(microseconds: Int64(random.below(1 << 52)) - 1 << 40)
      var record = TransactionRecord(number: first + Int64(index), timestamp: time)
      record.author = UInt32(random.below(4))
      record.context = UInt32(random.below(3))
      record.opening = UInt32(random.below(2))
      if random.chance(20) { addDetails(to: &record) }
      record.firstChange = UInt32(batch.changes.count)
      for _ in 0..<random.below(changes + 1) { addChange(to: &batch) }
      record.changeCount = UInt32(batch.changes.count) - record.firstChange
      batch.transactions.append(record)
    }
    return batch
  }

  private mutating func addDetails(to record: inout TransactionRecord) {
    if random.chance(50) {
      record.firstNewName = UInt32(1 + random.below(1000))
      record.newNames = (0...random.below(3)).map { "name \($0) \u{e9}" }
    }
    if random.chance(50) {
      record.newOpening = Opening(
        number: 7, id: random.next(), processName: "tool", processID: Int64(random.below(99_999)))
    }
    if random.chance(50) {
      for key in ["a", "b", "e\u{301}", "\u{e9}"].prefix(1 + random.below(4)) {
        var arena: ContiguousArray<UInt8> = []
        let kinds = Array(0...10) + [13, 14]
        let cell = makeCell(kinds[random.below(kinds.count)], arena: &arena)
        let value = arena.withUnsafeBytes { cell.value(in: $0) }
        record.metadata.append(MetadataEntry(key: key, value: value))
      }
    }
    if random.chance(30) { record.schemaChange = SampleSchema.entities.map(EntityChange.init) }
    if random.chance(30) { record.extensions = [6, 2, 0xAA, 0xBB, 9, 0] }
  }

  private mutating func addChange(to batch: inout ChangeBatch) {
    let kind = ChangeKind.allCases[random.below(3)]
    let first = batch.properties.count
    var property: PropertyNumber = 0
    for _ in 0..<random.below(8) {
      property += PropertyNumber(1 + (random.chance(3) ? random.below(200) : random.below(2)))
      let usual = Int(property) % 13
      if kind == .update, usual == 12 || (usual == 11 && random.chance(50)) {
        batch.properties.append(
          PropertyChange(
            property: property, before: makeEdits(&batch.arena), after: makeEdits(&batch.arena),
            isEdits: true))
        continue
      }
      func pick() -> Int { isRegular && random.chance(95) ? usual % 12 : random.below(15) }
      let before = kind == .insert ? .null : makeCell(pick(), arena: &batch.arena)
      let after = kind == .delete ? .null : makeCell(pick(), arena: &batch.arena)
      batch.properties.append(PropertyChange(property: property, before: before, after: after))
    }
    let entity = EntityNumber(1 + random.below(random.chance(5) ? 400 : 3))
    batch.changes.append(
      ChangeEntry(
        kind: kind, entity: entity, row: 1 + Int64(random.below(random.chance(3) ? 1 << 60 : 999)),
        firstProperty: first, propertyCount: batch.properties.count - first))
  }

  private mutating func makeEdits(_ arena: inout ContiguousArray<UInt8>) -> ValueCell {
    let start = arena.count
    var position: UInt32 = 0
    for _ in 0..<random.below(4) {
      position += UInt32(1 + random.below(9))
      arena.append(contentsOf: withUnsafeBytes(of: position.littleEndian) { Array($0) })
      ObjectReference(entity: 2, row: Int64(random.below(5000))).append(to: &arena)
    }
    return ValueCell(
      tag: .objects, bits: UInt64(start), length: UInt32(arena.count - start))
  }

  /// A cell of the kind with this number; 12 is a large value, 13 a decimal, 14 a day.
  mutating func makeCell(_ kind: Int, arena: inout ContiguousArray<UInt8>) -> ValueCell {
    let value: Value =
      switch kind {
      case 0: .null
      case 1: .bool(random.chance(50))
      case 2: .int(random.chance(80) ? Int64(random.below(100)) : Int64(bitPattern: random.next()))
      case 3: .double(Double(random.below(1 << 40)) / 64)
      case 4: .string(makeText())
      case 5: .date(Timestamp(microseconds: Int64(bitPattern: random.next())))
      case 6: .uuid(RawUUID(high: random.next(), low: UInt64(random.below(5))))
      case 7: .url("https://example.com/" + makeText())
      case 8: .data((0..<random.below(40)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
      case 9: .json("[\(random.below(5))]")
      case 10: .object(ObjectReference(entity: 1, row: Int64(random.below(1 << 30))))
      case 11:
        .objects(
          (0..<random.below(5)).map {
            ObjectReference(entity: EntityNumber(1 + $0), row: Int64(random.below(1 << 30)))
          })
      case 13:
        .decimal(
          RawDecimal(significand: Int128(random.below(1 << 30)), exponent: random.below(9) - 4)
            ?? .zero)
      case 14: .day(CalendarDay(nearestTo: Int64(random.below(1 << 22)) - 1 << 21))
      default:
        .large(
          LargeValue(
            tag: [.string, .url, .data, .json][random.below(4)], number: random.next(),
            length: UInt64(random.below(1 << 40)), checksum: UInt32(random.below(1 << 32))))
      }
    return ValueCell(value, appendingTo: &arena)
  }

  private mutating func makeText() -> String {
    let words = ["", "fog", "misty morning", "\u{e9}\u{1F600}", "a much longer piece of text"]
    if random.chance(60) { return words[random.below(words.count)] }
    let letters = (0..<random.below(30)).map { _ in UInt8(97 + random.below(26)) }
    return String(decoding: letters, as: UTF8.self)
  }
}

extension ChangeBatch {
  /// Everything that a batch says, as text that does not depend on how its arrays are laid out.
  var description: [String] {
    arena.withUnsafeBytes { arena in
      transactions.map { record in
        var copy = record
        copy.firstChange = 0
        let list = changes[record.changeRange].map { change in
          let run = properties[change.propertyRange].map { property in
            let before = ChangeBatch.text(property.before, property.isEdits, arena)
            let after = ChangeBatch.text(property.after, property.isEdits, arena)
            return "\(property.property) \(property.isEdits): \(before) -> \(after)"
          }
          return "\(change.kind) \(change.entity)#\(change.row) \(run)"
        }
        return "\(copy) \(list)"
      }
    }
  }

  private static func text(
    _ cell: ValueCell, _ isEdits: Bool, _ arena: UnsafeRawBufferPointer
  ) -> String {
    guard isEdits else { return "\(cell.value(in: arena)) \(cell.isLarge)" }
    return "\(Array(arena[cell.arenaRange]))"
  }
}
