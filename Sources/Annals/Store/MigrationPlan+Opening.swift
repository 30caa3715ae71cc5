import AnnalsEngine
import AnnalsModel

// What opening a store would do, without doing it.

extension Store {
  /// What opening the store at the path with these records and migrations would do: runs those that
  /// the store has not made, one on the other, and records nothing. Empty if none is pending.
  ///
  /// Costs what the migrations do, in memory. Their closures run; what they do outside of the
  /// transaction is done. Throws `.notFound` if no file exists, and as opening it for reading does.
  public static func migrationPlan(
    path: String, records: any Record.Type..., migrations: [Migration],
    options: StoreOptions = StoreOptions(), environment: StoreEnvironment = .system
  ) throws(AnnalsError) -> MigrationPlan {
    try reading(.file(path), options, environment).plan(migrations, for: records)
  }

  /// As the other form, with a schema by names.
  public static func migrationPlan(
    path: String, schema: Schema, migrations: [Migration],
    options: StoreOptions = StoreOptions(), environment: StoreEnvironment = .system
  ) throws(AnnalsError) -> MigrationPlan {
    try reading(.file(path), options, environment).migrationPlan(schema, [], migrations)
  }

  /// What opening this store again with these records and migrations would do, as the form for a
  /// path says. Looks at the newest state acknowledged here.
  public func migrationPlan(
    records: any Record.Type..., migrations: [Migration]
  ) -> MigrationPlan {
    plan(migrations, for: records)
  }

  private func plan(_ migrations: [Migration], for records: [any Record.Type]) -> MigrationPlan {
    Schema.declare(records, in: version.records.bindings.functions)
    return migrationPlan(Schema(records: records), Schema.edits(of: records), migrations)
  }

  /// As the other form, with a schema by names.
  public func migrationPlan(schema: Schema, migrations: [Migration]) -> MigrationPlan {
    migrationPlan(schema, [], migrations)
  }

  private func migrationPlan(
    _ schema: Schema, _ edits: [SchemaEdit], _ migrations: [Migration]
  ) -> MigrationPlan {
    version.migrationPlan(migrations.steps, to: schema, edits)
  }

  private static func reading(
    _ location: StoreLocation, _ options: StoreOptions, _ environment: StoreEnvironment
  ) throws(AnnalsError) -> Store {
    var options = options
    options.isReadOnly = true
    return try Store(location, creates: false, options: options, environment: environment)
  }
}
