import AnnalsEngine
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel

// Names and openings that lost transactions brought: a gap record has them, made up where no
// checkpoint knows them.

extension SalvageRun {
  /// As many names, and as many openings, one record may bring; and so many bytes of each a gap
  /// record does.
  private static let greatestCount = FormatLimits.maximumChanges
  private static let greatestLength = 6 << 20
  /// How many names, and openings, may be made up in all: a record of some bytes may speak of the
  /// millionth.
  static let greatestMadeUp: Int64 = 4 << 20

  /// What the directory of a later checkpoint knows.
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

  /// Throws `TransactionMisfit` if the transactions behind a gap that were looked at, up to those
  /// in the unit at `offset`, speak of more names or openings than the lost ones can have brought,
  /// or than may be made up.
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
        reason: "it speaks of name or opening \(count), more than can have been lost before it",
        offset: offset)
    }
  }

  /// Gives a gap record the next names and openings that were lost. Returns whether none are left.
  mutating func giveNames(
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

  /// The items from `start` to before `end`, as many as one record may have: each as it is known,
  /// or made up where it is not, or where it is too long for the last record.
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
