import Annals
import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsStorage

/// What an upgrade did.
public struct UpgradeReport: Sendable {
  /// The draft of the format that the file was of, 2 or 3; nil if it was of version 1 already and
  /// stayed as it was.
  public internal(set) var draft: Int?
  /// How many transactions the file has, apart from pruned ones.
  public internal(set) var transactions: Int64 = 0
  /// How many bytes after the last commit were left out: one that was never whole.
  public internal(set) var tornBytes: UInt64 = 0
  /// The length of the file in bytes, before.
  public internal(set) var bytesBefore: UInt64 = 0
  /// The length of the file in bytes, now.
  public internal(set) var bytesAfter: UInt64 = 0
}

extension Store {
  /// Rewrites a file that was written before version 1 of the format, in its draft 2 or 3, as one
  /// of version 1. A file of version 1 stays as it is.
  ///
  /// All is kept: the store's identity, every transaction with its number, tokens, the base,
  /// consumers, retention and deletes remembered of pruned history. States of projections are made
  /// anew when a program first asks for them. The new file is compacted and verified before it
  /// takes the old one's place, in one step, so that a crash leaves one or the other. It has the
  /// old one's mode and owner. No other program can write to the file meanwhile; one that has it
  /// open goes on reading the old one.
  ///
  /// Reads the file three times and replays its history. Takes room for a second file. Memory: two
  /// states.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - environment: the store's environment.
  /// - Returns: what was done.
  /// - Throws: `.notFound`, `.notAnAnnalsFile`, `.newerVersion`; `.unsupported` for draft 1 and for
  ///   a file of several names; `.damaged`, with the place, if not all of it can be read: salvage
  ///   it with the version that wrote it; `.busy` if somebody is writing to it; `.alreadyExists` if
  ///   the place of the new file, `PATH.upgraded`, is taken; `.noSpace`, `.io`. Then the file is as
  ///   it was.
  @discardableResult
  public static func upgrade(
    _ path: String, environment: StoreEnvironment = .system
  ) throws(AnnalsError) -> UpgradeReport {
    try upgrade(.file(path), environment: environment)
  }

  /// As `upgrade(_:environment:)`, at any location.
  package static func upgrade(
    _ location: StoreLocation, environment: StoreEnvironment = .system
  ) throws(AnnalsError) -> UpgradeReport {
    var location = location
    do {
      location.path = try location.fileSystem.resolve(location.path)
      return try replace(location, environment)
    } catch let fault as UpgradeFault {
      throw AnnalsError(fault, in: location.path)
    } catch let fault as HeaderFault {
      throw AnnalsError(.header(fault), opening: location.path)
    } catch let error as StorageError where error.isMissing {
      throw AnnalsError.missingFile(location.path)
    } catch {
      throw AnnalsError.translated(error)
    }
  }

  private static func replace(
    _ location: StoreLocation, _ environment: StoreEnvironment
  ) throws -> UpgradeReport {
    let (fileSystem, path) = (location.fileSystem, location.path)
    let file = try fileSystem.open(path, for: .writing)
    defer { file.close() }
    guard try file.lock(.exclusive, wait: .until(.now + .seconds(2))) else {
      throw AnnalsError(LogError.busy, opening: path)
    }
    var report = UpgradeReport()
    report.bytesBefore = try file.size()
    let source: DraftFile
    do {
      source = try DraftFile(file)
    } catch UpgradeFault.isVersion1 {
      report.bytesAfter = report.bytesBefore
      return report
    }
    let names = try fileSystem.linkCount(of: path)
    guard names <= 1 else { throw LogError.hardLinked(names) }
    report.draft = Int(source.draft)
    report.tornBytes = source.tornBytes
    var upgraded = location
    upgraded.path = path + ".upgraded"
    var run = try UpgradeRun(source, at: upgraded.path, like: path, in: fileSystem)
    try run.run()
    report.transactions = run.transactions
    do {
      try check(upgraded, provenHead: source.provenHead, environment)
      report.bytesAfter = try size(of: upgraded)
      try fileSystem.rename(upgraded.path, over: path)
    } catch {
      try? fileSystem.remove(upgraded.path)
      throw error
    }
    try fileSystem.syncDirectory(of: path)
    return report
  }

  /// Compacts the new file and verifies it. Throws `.damaged` if something is wrong with it.
  private static func check(
    _ location: StoreLocation, provenHead: Int64, _ environment: StoreEnvironment
  ) throws {
    let store = try Store(location, creates: false, environment: environment)
    defer { try? store.close() }
    guard store.token.number >= provenHead else {
      throw UpgradeFault.damaged("transactions after \(store.token.number) are missing", at: 0)
    }
    _ = try store.compact()
    for finding in try store.verify() where finding.severity == .error {
      throw UpgradeFault.damaged(
        "once it is rewritten: \(finding.message)", at: finding.offset ?? 0)
    }
    try store.close()
  }

  private static func size(of location: StoreLocation) throws -> UInt64 {
    let file = try location.fileSystem.open(location.path, for: .reading)
    defer { file.close() }
    return try file.size()
  }
}

extension AnnalsError {
  /// The error for a file that cannot be upgraded, and was left as it was.
  fileprivate init(_ fault: UpgradeFault, in file: String) {
    switch fault {
    case .isVersion1: self.init(.unsupported, "\(file) is of version 1")
    case .unreadableDraft(let draft): self = AnnalsError(.header(.olderDraft(draft)), opening: file)
    case .newer(let what, let offset):
      self.init(
        .newerVersion, "\(file) is of a newer version: \(what). It was left as it was",
        offset: offset)
    case .damaged(let what, let offset):
      self.init(
        .damaged,
        "\(file) is damaged: \(what). It was left as it was. Salvage it with the version of Annals "
          + "that wrote it, or restore a copy", offset: offset)
    }
  }
}
