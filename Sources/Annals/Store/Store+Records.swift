import AnnalsEngine
import AnnalsModel

extension Store {
  /// Opens the store at the path, or creates it, and adds to its schema what these record types
  /// need and it lacks, as a transaction of its own.
  ///
  /// Throws as `init(path:schema:)` does.
  public convenience init(
    path: String, records: any Record.Type..., migrations: [Migration] = [],
    options: StoreOptions = StoreOptions(), environment: StoreEnvironment = .system
  ) throws(AnnalsError) {
    try self.init(
      .file(path), records: records, migrations, options: options, environment: environment)
  }

  /// As `init(path:records:)`, in a file or in memory.
  public convenience init(
    _ location: StoreLocation, records: any Record.Type..., migrations: [Migration] = [],
    options: StoreOptions = StoreOptions(), environment: StoreEnvironment = .system
  ) throws(AnnalsError) {
    try self.init(
      location, records: records, migrations, options: options, environment: environment)
  }

  /// Opens a store as `init(path:records:)` does, runs `body`, and closes the store, even if `body`
  /// throws.
  @discardableResult
  public static func with<R>(
    path: String, records: any Record.Type..., migrations: [Migration] = [],
    options: StoreOptions = StoreOptions(), environment: StoreEnvironment = .system,
    _ body: (Store) throws -> R
  ) throws -> R {
    let store = try Store(
      .file(path), records: records, migrations, options: options, environment: environment)
    return try store.closing { try body(store) }
  }

  private convenience init(
    _ location: StoreLocation, records: [any Record.Type], _ migrations: [Migration],
    options: StoreOptions, environment: StoreEnvironment
  ) throws(AnnalsError) {
    try self.init(
      location, creates: !options.isReadOnly, declaring: migrations.map(\.name), options: options,
      environment: environment)
    // Whatever is written first, by whichever type: others may read it.
    Schema.declare(records, in: version.records.bindings.functions)
    try discardingIfUnused { () throws(AnnalsError) in
      try adopt(Schema(records: records), Schema.edits(of: records), migrations)
    }
  }

  /// Applies the renames that these record types declare, and adds to the store's schema what it
  /// lacks of them.
  ///
  /// Throws `.invalidSchema` with every reason; then nothing has changed.
  public func require(_ records: [any Record.Type]) throws(AnnalsError) {
    Schema.declare(records, in: version.records.bindings.functions)
    try change(schema: Schema(records: records), edits: Schema.edits(of: records))
  }
}
