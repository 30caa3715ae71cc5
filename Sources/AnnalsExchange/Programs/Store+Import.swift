import Annals
import AnnalsStorage
import Foundation

extension Store {
  /// Reads the transactions of a file of JSON Lines, plain or packed by gzip, into a new store at
  /// `path`.
  ///
  /// What an export wrote gives the same history: every state, every author and time. Of other
  /// lines entities and attributes are inferred as they appear, unless a schema is given, which
  /// the lines must suit. The form of the lines is in the guide. Memory does not grow with the
  /// file.
  ///
  /// The store has its name only when all is read in and synced; if anything throws, also
  /// `progress`, nothing is left of it. (A process that is killed meanwhile leaves a file whose
  /// name goes on with `.part-`.)
  ///
  /// - Parameters:
  ///   - input: the file of lines.
  ///   - path: where the store is to be.
  ///   - schema: what the lines must suit; nil to infer it.
  ///   - environment: what the new store takes from the world.
  ///   - progress: called after each line, on the caller's thread. Throws to stop.
  /// - Returns: how many transactions, and the position after the last.
  /// - Throws: `.invalidInput` for a line that cannot be read, `.invalidChange`, `.invalidSchema`,
  ///   `.noSuchObject`, `.tooLarge` for one that cannot be recorded, all with `inputPlace`;
  ///   `.notFound` if there is no input; `.alreadyExists` if there is a file at `path`, which is
  ///   left alone; `.noSpace`, `.permission`, `.io`; `.outcomeUnknown` if the new name could
  ///   neither be made durable nor taken back.
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
    let source = try StoredBytes(input, in: fileSystem)
    let unfinished = try UnfinishedFile(for: path, in: fileSystem)
    let lines = HistoryImport(
      UnpackingSource(source),
      into: StoreLocation(
        fileSystem: fileSystem, path: unfinished.path, commitRun: .milliseconds(5)),
      options: .deferred, environment: environment)
    if let schema { lines.require(schema) }
    let token: Token
    do {
      try lines.readAll(of: source, called: input, after: "Nothing was kept", progress)
      guard let store = lines.store else { preconditionFailure("an import without a store") }
      token = store.token
      try store.close()
    } catch {
      try? lines.store?.close()
      unfinished.discard()
      throw error
    }
    try unfinished.place()
    return ImportSummary(count: lines.count, token: token)
  }

  /// Reads the transactions of a file of JSON Lines, plain or packed by gzip, into this store: a
  /// transaction for each line, with the line's author and time and a number of its own.
  ///
  /// What the lines name has to be in the schema, unless a line of theirs with a schema brings it
  /// or `infersSchema` allows to add what is missing. Each transaction is committed as a write
  /// is: many go faster with `.deferred` and a `sync()` behind them. Others may write in between;
  /// reading a line holds them up. Those before a line that fails, or before `progress` threw,
  /// stay.
  ///
  /// - Parameters:
  ///   - input: the file of lines.
  ///   - infersSchema: whether entities and attributes that are missing are added, and attributes
  ///     that get a value of another type become those of any.
  ///   - progress: called after each line, on the caller's thread. Throws to stop.
  /// - Returns: how many transactions, and the position after the last.
  /// - Throws: as `import(from:to:schema:environment:progress:)`, and what a write throws. What is
  ///   said of a line says how many transactions before it stay.
  @discardableResult
  public func `import`(
    from input: String, infersSchema: Bool = false,
    progress: (ExchangeProgress) throws -> Void = { _ in }
  ) throws -> ImportSummary {
    let source = try StoredBytes(input, in: fileSystemOfCopies)
    return try `import`(UnpackingSource(source), infersSchema) {
      try $0.readAll(of: source, called: input, after: nil, progress)
    }
  }

  /// Reads transactions from what `read` returns, piece by piece, until it returns nil: JSON
  /// Lines, plain or packed by gzip; as `import(from:infersSchema:progress:)` does. What the
  /// closures throw ends it.
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
    return ImportSummary(count: lines.count, token: token)
  }
}

extension HistoryImport {
  /// Reads all lines; `source` says how far it is, where that is known. An error names the input,
  /// and ends with `rest`, or else with how many transactions stay.
  fileprivate func readAll(
    of source: StoredBytes?, called name: String, after rest: String?,
    _ progress: (ExchangeProgress) throws -> Void
  ) throws {
    while try readNext(of: source, called: name, after: rest) {
      let fraction = source.map { min(1, Double($0.position) / Double(max($0.size, 1))) }
      try progress(ExchangeProgress(count: count, fraction: fraction))
    }
  }

  private func readNext(
    of source: StoredBytes?, called name: String, after rest: String?
  ) throws -> Bool {
    do {
      return try next()
    } catch let failure as Failure {
      if let failure = source?.failure { throw failure }
      let place = InputPlace(line: failure.line, column: failure.column)
      var error = failure.refusal ?? AnnalsError(.invalidInput, failure.reason)
      let stays = "\(count) \(count == 1 ? "transaction" : "transactions") before it stay"
      error.message = "\(name):\(place): \(failure.reason). \(rest ?? stays)"
      error.inputPlace = place
      throw error
    }
  }
}
