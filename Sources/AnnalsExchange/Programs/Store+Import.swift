import Annals
import AnnalsStorage
import Foundation

extension Store {
  /// Imports a file of JSON Lines, plain or gzip-compressed, into a new store at `path`.
  ///
  /// The lines of an export give the same history: every state, author and time. From other lines,
  /// entities and attributes are inferred as they appear, unless a schema is given, which the lines
  /// must fit. The guide describes the lines. Memory does not grow with the file.
  ///
  /// The store gets its name when the import is complete and synced; if anything throws, no file is
  /// left. (A process that is killed leaves a file whose name continues with `.part-`.)
  ///
  /// - Parameters:
  ///   - input: the path of the file of lines.
  ///   - path: the path of the new store.
  ///   - schema: the schema that the lines must fit; nil to infer it.
  ///   - environment: the clock, the source of UUIDs and the process of the new store.
  ///   - progress: called after each line, on the caller's thread. Throw to stop.
  /// - Returns: the number of transactions, and the position after the last.
  /// - Throws: `.invalidInput` for a line that cannot be read, `.invalidChange`, `.invalidSchema`,
  ///   `.noSuchObject`, `.tooLarge` for one that cannot be recorded, all with `inputPlace`;
  ///   `.notFound` if there is no input; `.alreadyExists` if there is a file at `path`, which is
  ///   left alone; `.noSpace`, `.permission`, `.io`; `.outcomeUnknown` if the new name could
  ///   neither be made durable nor removed again.
  @discardableResult
  public static func `import`(
    from input: String, to path: String, schema: Schema? = nil,
    environment: StoreEnvironment = .system, progress: (ExchangeProgress) throws -> Void = { _ in }
  ) throws -> ImportSummary {
    try `import`(
      from: input, to: path, in: PosixFileSystem(), schema: schema, environment: environment,
      progress: progress)
  }

  /// As `import(from:to:schema:environment:progress:)`, with both files in this file system.
  @discardableResult
  package static func `import`(
    from input: String, to path: String, in fileSystem: any FileSystem, schema: Schema? = nil,
    environment: StoreEnvironment = .system, progress: (ExchangeProgress) throws -> Void = { _ in }
  ) throws -> ImportSummary {
    let source = try FileOfInput(input, in: fileSystem)
    let new = try NewStore(at: path, in: fileSystem)
    let lines = HistoryImport(
      UnpackingSource(source), into: new.location, options: .deferred, environment: environment)
    if let schema { lines.require(schema) }
    do {
      try lines.readAll(of: source, called: input, after: "Nothing was kept", progress)
    } catch {
      new.discard(lines.store)
      throw error
    }
    guard let store = lines.store else { preconditionFailure("an import without a store") }
    let token = store.token
    try new.place(store)
    return ImportSummary(count: lines.count, token: token, notes: lines.notes)
  }

  /// Imports a file of JSON Lines, plain or gzip-compressed, into this store: one transaction for
  /// each line, with the line's author and time, and the next number of this store.
  ///
  /// The schema must have the entities and properties in the lines, unless a line with a schema
  /// adds them, or `infersSchema` is true. A schema in the lines is matched with the store's by
  /// name: what is missing is added, and nothing is removed, narrowed or renumbered. Only what
  /// comes from this store or a copy of its file is matched by number. Each transaction is
  /// committed like a write, so many lines are faster with `.deferred` and a `sync()` at the end.
  /// Other writers can commit in between; they wait while a line is read. If a line fails, or
  /// `progress` throws, the transactions before it stay.
  ///
  /// - Parameters:
  ///   - input: the path of the file of lines.
  ///   - infersSchema: whether missing entities and attributes are added, and attributes that get a
  ///     value of another type are widened to `any`.
  ///   - progress: called after each line, on the caller's thread. Throw to stop.
  /// - Returns: the number of transactions, and the position after the last.
  /// - Throws: as `import(from:to:schema:environment:progress:)`, and what a write throws. The
  ///   message about a line says how many transactions stay, and up to which line.
  @discardableResult
  public func `import`(
    from input: String, infersSchema: Bool = false,
    progress: (ExchangeProgress) throws -> Void = { _ in }
  ) throws -> ImportSummary {
    let source = try FileOfInput(input, in: fileSystemOfCopies)
    return try `import`(UnpackingSource(source), infersSchema) {
      try $0.readAll(of: source, called: input, after: nil, progress)
    }
  }

  /// Imports JSON Lines, plain or gzip-compressed, from the pieces that `read` returns until it
  /// returns nil. Otherwise the same as `import(from:infersSchema:progress:)`. Throws what the
  /// closures throw.
  @discardableResult
  public func `import`(
    infersSchema: Bool = false, progress: (ExchangeProgress) throws -> Void = { _ in },
    read: () throws -> Data?
  ) throws -> ImportSummary {
    try withoutActuallyEscaping(read) { read in
      let source = PiecesOfInput(read)
      return try `import`(UnpackingSource(source), infersSchema) { lines in
        do {
          try lines.readAll(of: nil, called: "the input", after: nil, progress)
        } catch {
          throw source.failure ?? error
        }
      }
    }
  }

  private func `import`(
    _ source: any ByteSource, _ infersSchema: Bool, _ body: (HistoryImport) throws -> Void
  ) throws -> ImportSummary {
    let lines = HistoryImport(source, into: self)
    lines.keepsSchema = !infersSchema
    try body(lines)
    return ImportSummary(count: lines.count, token: token, notes: lines.notes)
  }
}

extension HistoryImport {
  /// Imports all lines. `source` gives the progress; nil if unknown. The message of an error names
  /// the input and ends with `rest`, or, if that is nil, with how many transactions stay.
  fileprivate func readAll(
    of source: FileOfInput?, called name: String, after rest: String?,
    _ progress: (ExchangeProgress) throws -> Void
  ) throws {
    while try readNext(of: source, called: name, after: rest) {
      let fraction = source.map { min(1, Double($0.position) / Double(max($0.size, 1))) }
      try progress(ExchangeProgress(count: count, fraction: fraction))
    }
  }

  private func readNext(
    of source: FileOfInput?, called name: String, after rest: String?
  ) throws -> Bool {
    do {
      return try next()
    } catch let failure as Failure {
      if let failure = source?.failure { throw failure }
      let place = InputPlace(line: failure.line, column: failure.column)
      var error = failure.refusal ?? AnnalsError(.invalidInput, failure.reason)
      let stays =
        count == 0
        ? "Nothing was imported"
        : count == 1
          ? "1 transaction, of line \(lastLine), stays"
          : "\(count) transactions, up to line \(lastLine), stay"
      let end = failure.reason.hasSuffix("?") ? "" : "."
      error.message = "\(name):\(place): \(failure.reason)\(end) \(rest ?? stays)"
      error.inputPlace = place
      throw error
    }
  }
}
