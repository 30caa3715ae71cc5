import AnnalsStorage

/// A state of the disk that a power cut may leave.
package struct Survivor: Sendable {
  /// Which unsynced changes survived, and the point at which the power failed.
  package var description: String
  /// The files after the restart, all synced.
  package var files: FaultyFileSystem
  /// The fingerprint of these files.
  package var fingerprint: Int
}

extension FaultyFileSystem {
  /// Calls `body` with every state that a power cut now may leave, or left when the power failed;
  /// once for states with the same names and bytes. Returns the number of states.
  ///
  /// With n unsynced changes there are about 4n states of the files, and two more for each unsynced
  /// change of names; each costs a copy of the files. If there are more than `limit` changes, the
  /// seed decides which ones are left out.
  @discardableResult
  package func forEachSurvivor<E: Error>(
    limit: Int = 64, _ body: (Survivor) throws(E) -> Void
  ) throws(E) -> Int {
    let disk = self.disk.withLock { $0 }
    let survivors = SurvivorSets(of: disk, limit: limit)
    var seen: Set<Int> = []
    for nameCount in 0...disk.pendingNames.count {
      let isOuter = nameCount == 0 || nameCount == disk.pendingNames.count
      for choice in isOuter ? survivors.choices : [.prefix(0), .prefix(survivors.changeCount)] {
        let restarted = survivors.restarted(choice, nameCount: nameCount)
        let fingerprint = restarted.fingerprint
        if !seen.insert(fingerprint).inserted { continue }
        let names = "\(nameCount) of \(disk.pendingNames.count) names"
        var description = "\(survivors.describe(choice)), \(names)"
        if let point = disk.points.last {
          description = "point \(disk.points.count - 1) (\(point)): \(description)"
        }
        try body(
          Survivor(
            description: description, files: FaultyFileSystem(restarted, syncDelay: syncDelay),
            fingerprint: fingerprint))
      }
    }
    return seen.count
  }
}

/// The sets of unsynced changes that may survive, by the fault model in FaultyFileSystem.swift.
struct SurvivorSets {
  /// Which of the changes, in the order in which they were made, survive.
  enum Choice {
    /// The first ones, this many.
    case prefix(Int)
    /// All but one.
    case without(Int)
    /// Only one.
    case only(Int)
    /// All, but of one only the length of the file.
    case lengthOnly(Int)
    /// Only the lengths of all.
    case lengths
    /// All, but of the last only these sectors.
    case sectors(Range<Int>)
    /// All, but the last without this sector.
    case withoutSector(Int)
    /// All, with the bytes of the last one garbled in its last sector.
    case garbled
  }

  private static let sectorSize = 512
  private let disk: FaultyDisk
  private let changes: [(file: UInt64, change: FaultyDisk.Change)]
  private let chosen: [Int]
  private var random: SplitMix64

  var changeCount: Int { changes.count }

  init(of disk: FaultyDisk, limit: Int) {
    self.disk = disk
    random = SplitMix64(seed: disk.seed)
    changes = disk.files.flatMap { file in file.value.pending.map { (file.key, $0) } }
      .sorted { $0.1.sequence < $1.1.sequence }
    var indices = Array(changes.indices)
    while indices.count > max(2, limit) {
      // The first and the last always stay: the boundaries to what is synced and to what is in
      // flight.
      indices.remove(at: 1 + Int(random.next() % UInt64(indices.count - 2)))
    }
    chosen = indices
  }

  var choices: [Choice] {
    guard !changes.isEmpty else { return [.prefix(0)] }
    var choices = chosen.map { Choice.prefix($0) } + [.prefix(changes.count)]
    if changes.count > 1 {
      choices += chosen.map { .without($0) } + chosen.map { .only($0) }
      choices.append(.lengths)
    }
    choices += chosen.map { .lengthOnly($0) }
    let sectors = sectorsOfLast
    if !sectors.isEmpty {
      let steps = Set([1, sectors.count / 2, sectors.count - 1])
      for step in steps.sorted() where 0 < step && step < sectors.count {
        choices.append(.sectors(0..<step))
        choices.append(.sectors(step..<sectors.count))
        choices.append(.withoutSector(step))
      }
      choices.append(.garbled)
    }
    return choices
  }

  func describe(_ choice: Choice) -> String {
    let count = changes.count
    return switch choice {
    case .prefix(let number): "the first \(number) of \(count) changes"
    case .without(let index): "all of \(count) changes but number \(index)"
    case .only(let index): "of \(count) changes number \(index) alone"
    case .lengthOnly(let index): "all of \(count) changes, of number \(index) only the length"
    case .lengths: "of \(count) changes only the lengths"
    case .sectors(let sectors): "all of \(count) changes, of the last only sectors \(sectors)"
    case .withoutSector(let sector): "all of \(count) changes, of the last not sector \(sector)"
    case .garbled: "all of \(count) changes, the last sector garbled"
    }
  }

  /// The disk after a restart with these changes of files and the first `nameCount` of names.
  func restarted(_ choice: Choice, nameCount: Int) -> FaultyDisk {
    var names = disk.durableNames
    for change in disk.pendingNames.prefix(nameCount) { change.apply(to: &names) }
    var bytes: [UInt64: ContiguousArray<UInt8>] = [:]
    for file in names.values { bytes[file] = disk.files[file]?.durable ?? [] }
    for (index, (file, change)) in changes.enumerated() where bytes[file] != nil {
      for piece in pieces(of: change.kind, at: index, choice) { bytes[file]?.apply(piece) }
    }
    return .restarted(from: disk, files: bytes, names: names)
  }

  /// The parts of one change that survive.
  private func pieces(
    of kind: FaultyDisk.Change.Kind, at index: Int, _ choice: Choice
  ) -> [FaultyDisk.Change.Kind] {
    let isLast = index == changes.count - 1
    switch choice {
    case .prefix(let count): return index < count ? [kind] : []
    case .without(let lost): return index != lost ? [kind] : []
    case .only(let kept): return index == kept ? [kind] : []
    case .lengthOnly(let lost): return index == lost ? [kind.lengthAlone] : [kind]
    case .lengths: return [kind.lengthAlone]
    case .sectors(let kept):
      if !isLast { return [kind] }
      return sectorsOfLast.enumerated().compactMap { kept.contains($0) ? kind.part($1) : nil }
    case .withoutSector(let lost):
      if !isLast { return [kind] }
      return sectorsOfLast.enumerated().compactMap { $0 != lost ? kind.part($1) : nil }
    case .garbled:
      guard isLast, let sector = sectorsOfLast.last else { return [kind] }
      var random = self.random
      return [kind.garbled(in: sector, &random)]
    }
  }

  /// The ranges of the file that the last change writes, one for each sector; empty if it is not a
  /// write.
  private var sectorsOfLast: [Range<Int>] {
    guard let last = changes.last, case .write(let offset, let bytes) = last.change.kind else {
      return []
    }
    let end = offset + bytes.count
    let size = Self.sectorSize
    return (offset / size...(end - 1) / size).map {
      max(offset, $0 * size)..<min(end, ($0 + 1) * size)
    }
  }
}

extension FaultyDisk.Change.Kind {
  /// The change of length alone, without the bytes.
  fileprivate var lengthAlone: Self {
    if case .write(let offset, let bytes) = self { return .grow(to: offset + bytes.count) }
    return self
  }

  /// The part of a write that lies in `range` of the file.
  fileprivate func part(_ range: Range<Int>) -> Self {
    guard case .write(let offset, let bytes) = self else { return self }
    return .write(
      at: range.lowerBound,
      ContiguousArray(bytes[range.lowerBound - offset..<range.upperBound - offset]))
  }

  fileprivate func garbled(in range: Range<Int>, _ random: inout SplitMix64) -> Self {
    guard case .write(let offset, var bytes) = self else { return self }
    for position in range { bytes[position - offset] = UInt8(truncatingIfNeeded: random.next()) }
    return .write(at: offset, bytes)
  }
}
