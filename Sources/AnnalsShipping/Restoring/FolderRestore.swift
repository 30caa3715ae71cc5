import Annals
import AnnalsEngine
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import SystemPackage

/// One restore: from the newest base whose history has the moment.
struct FolderRestore {
  let folder: ShippingFolder
  /// The new file.
  let path: String
  let fileSystem: any FileSystem
  let environment: StoreEnvironment
  /// Finds the moment in a store; nil for the newest.
  let point: ((Store) throws -> RestoredPoint)?
  /// What could not be read, in the order in which it was found.
  private(set) var problems: [ShippingFault] = []
  /// The last transaction that can be restored.
  private(set) var lastGood: Int64?
  /// Why the moment is not in the newest base.
  private(set) var refusal: AnnalsError?

  /// The name of the file while it is made.
  private var temporary: String { path + ".restoring" }

  mutating func run() throws -> RestoreReport {
    guard try fileSystem.identity(of: path) == nil else {
      throw AnnalsError(
        .alreadyExists, "\(path) exists already; choose another name or remove it first")
    }
    let contents = try folder.contents()
    _ = try contents.store(in: folder.path)
    guard !contents.series.isEmpty else {
      throw folder.nothingShipped
    }
    for series in contents.series.reversed() {
      if let report = try restore(from: series) { return report }
    }
    guard let problem = problems.first else {
      throw refusal
        ?? AnnalsError(.notFound, "\(folder.path) has no such moment; check the path")
    }
    throw AnnalsError(problem.code, text(of: problem))
  }

  private func text(of problem: ShippingFault) -> String {
    guard let lastGood else {
      return "\(problem.text), and without it nothing of \(folder.path) can be restored"
    }
    return "\(problem.text). The last transaction that can be restored without it is \(lastGood): "
      + "name that one, or an earlier moment"
  }

  /// Restores from a base, if the moment is in it.
  private mutating func restore(from series: ShippedSeries) throws -> RestoreReport? {
    let original = series.base.map { folder.path(of: $0) }
    let file: any StorageFile
    let isSame = original.map { (try? fileSystem.identity(of: $0)) != nil } ?? false
    do throws(StorageError) {
      file = try fileSystem.create(
        temporary, like: isSame ? original : nil, requiresOwner: false)
    } catch  where error.isTaken {
      throw AnnalsError(
        .alreadyExists,
        "\(temporary) exists already, which is the file that becomes \(path); remove it if no "
          + "other restore is running")
    } catch {
      throw error
    }
    defer {
      file.close()
      try? fileSystem.remove(temporary)
    }
    let assembly: SeriesAssembly
    do {
      assembly = try SeriesAssembly(series, of: folder, into: file)
    } catch let fault as ShippingFault {
      problems.append(fault)
      return nil
    }
    if let problem = assembly.problem { problems.append(problem) }
    lastGood = max(lastGood ?? 0, assembly.head)
    guard let number = try number(in: assembly) else { return nil }
    return try complete(file, assembly, at: number)
  }

  /// The transaction to restore; nil if it is not in this base, or nobody can tell.
  private mutating func number(in assembly: SeriesAssembly) throws -> Int64? {
    guard let point else { return problems.isEmpty ? assembly.head : nil }
    let store = try openTemporary()
    defer { try? store.close() }
    do {
      let found = try point(store)
      let isCertain = problems.isEmpty || found.isCertain(before: assembly.head)
      return isCertain ? found.number : nil
    } catch let error as AnnalsError where error.isMissingHistory {
      refusal = refusal ?? error
      return nil
    }
  }

  private func openTemporary() throws -> Store {
    try Store(
      StoreLocation(fileSystem: fileSystem, path: temporary), creates: false,
      options: .looking, environment: environment)
  }

  /// Cuts the file after a transaction, and gives it its name.
  private mutating func complete(
    _ file: any StorageFile, _ assembly: SeriesAssembly, at number: Int64
  ) throws -> RestoreReport {
    var isRewritten = false
    if number < assembly.head {
      let header = assembly.base.header
      let cut = try LogStretch.cut(of: file, header, after: number, upTo: assembly.end)
      if let cut {
        let stretch = try LogStretch(
          of: file, header, from: ChainPoint(beginningOf: header), upTo: cut.offset)
        try SeriesAssembly.end(file, header, after: stretch)
        if let finding = try SeriesAssembly.finding(in: file) {
          throw AnnalsError(.damaged, "the restored file is damaged: \(finding.what)")
        }
      } else {
        try rewrite(upTo: number)
        isRewritten = true
      }
    }
    if !isRewritten {
      try file.sync()
      try place()
    }
    let timestamp: Timestamp
    let restored = try Store(
      StoreLocation(fileSystem: fileSystem, path: path), creates: false,
      options: .looking, environment: environment)
    defer { try? restored.close() }
    timestamp = restored.version.view.head.timestamp
    var report = RestoreReport(
      number: number, timestamp: timestamp, newest: assembly.head, base: assembly.series.number,
      segments: assembly.segments, bytes: restored.version.view.end)
    report.newest = max(lastGood ?? 0, assembly.head)
    report.isRewritten = isRewritten
    report.problems = problems.map(\.text)
    return report
  }

  /// Writes the file anew, with history up to a transaction within a block.
  private func rewrite(upTo number: Int64) throws {
    let store = try openTemporary()
    defer { try? store.close() }
    let version = store.version
    try store.writer.replay(
      version, to: path, at: number, flatten: false, store: version.store)
  }

  private func place() throws {
    do throws(StorageError) {
      try fileSystem.place(temporary, at: path)
    } catch  where error.isTaken {
      throw AnnalsError(
        .alreadyExists, "\(path) exists already; choose another name or remove it first")
    } catch {
      throw error
    }
    do throws(StorageError) {
      try fileSystem.syncDirectory(of: path)
    } catch {
      throw AnnalsError(
        .outcomeUnknown,
        "\(error) \(path) is whole, but after a power cut it may be gone. Repair the disk, then "
          + "look",
        underlying: error.errno)
    }
  }
}
