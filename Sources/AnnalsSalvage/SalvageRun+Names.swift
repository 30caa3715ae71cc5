import AnnalsEngine
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel

// Names and openings that lost transactions added. A gap record restores them, from a checkpoint,
// or made up.

extension SalvageRun {
  /// The greatest number of names, and of openings, in one record, and of bytes of each in a gap
  /// record.
  private static let greatestCount = FormatLimits.maximumChanges
  private static let greatestLength = 6 << 20
  /// How many names, and openings, may be made up in all. A record of a few bytes can refer to the
  /// millionth.
  static let greatestMadeUp: Int64 = 4 << 20

  /// The names and openings in the directory of a later checkpoint.
  struct KnownNames {
    var names: [String] = []
    var openings: [Opening] = []
  }

  func knownNames(of gap: SalvageGap) throws -> KnownNames {
    guard let directory = gap.directory else { return KnownNames() }
    return KnownNames(
      names: try source.entries(of: directory.names) ?? [],
      openings: try source.entries(of: directory.openings) ?? [])
  }

  /// Throws `TransactionMisfit` if the transactions scanned behind a gap, up to the unit at
  /// `offset`, refer to more names or openings than the lost ones can have added, or than may be
  /// made up.
  func requireRoom(
    for inference: GapInference, _ gap: SalvageGap, _ known: KnownNames, _ batch: ChangeBatch,
    at offset: UInt64
  ) throws {
    let length = gap.last - gap.first + 1
    let limit = Int64(SalvageRun.greatestCount)
    let room = length > Int64.max / limit ? Int64.max : length * limit
    let wanted = [
      (inference.names.count, target.nameCount, known.names.count),
      (inference.openings.count, target.openingCount, known.openings.count),
    ]
    for (count, before, known) in wanted {
      let madeUp = count - Int64(max(before, known))
      if count - Int64(before) <= room, madeUp <= spareNames { continue }
      throw TransactionMisfit(
        number: batch.transactions.first?.number ?? gap.last,
        reason: "it refers to name or opening \(count), more than can have been lost before it",
        offset: offset)
    }
  }

  /// Adds the next lost names and openings to a gap record. Returns whether none are left.
  mutating func addNames(
    to record: inout TransactionRecord, _ lost: inout LostTransactions, _ gap: SalvageGap,
    _ known: KnownNames, isLast: Bool
  ) -> Bool {
    let names = next(Int(gap.names), behind: target.nameCount, isLast) { index in
      let name = known.names.indices.contains(index) ? known.names[index] : nil
      return (name, "(lost name \(index + 1))")
    } length: {
      $0.utf8.count
    }
    if !names.isEmpty {
      record.firstNewName = NameNumber(target.nameCount + 1)
      record.newNames = names
    }
    lost.openings = next(Int(gap.openings), behind: target.openingCount, isLast) { index in
      let opening = known.openings.indices.contains(index) ? known.openings[index] : nil
      return (
        opening,
        Opening(number: OpeningNumber(index + 1), id: 0, processName: "(lost)", processID: 0)
      )
    } length: {
      $0.processName.utf8.count
    }
    spareNames -= Int64(max(0, target.nameCount + names.count - known.names.count))
    return target.nameCount + names.count >= Int(gap.names)
      && target.openingCount + lost.openings.count >= Int(gap.openings)
  }

  /// The items from `start` to before `end` that fit one record. An item is made up if it is
  /// unknown, or too long for the last record.
  private func next<Item>(
    _ end: Int, behind start: Int, _ isLast: Bool, _ item: (Int) -> (known: Item?, madeUp: Item),
    length: (Item) -> Int
  ) -> [Item] {
    var result: [Item] = []
    var bytes = 0
    for index in start..<max(start, end) where result.count < SalvageRun.greatestCount {
      let (known, madeUp) = item(index)
      var next = known ?? madeUp
      if bytes + length(next) > SalvageRun.greatestLength {
        guard isLast else { break }
        next = madeUp
      }
      bytes += length(next)
      result.append(next)
    }
    return result
  }
}
