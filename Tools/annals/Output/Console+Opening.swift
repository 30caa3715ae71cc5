import Annals
import AnnalsInspector
import AnnalsReplication

extension Console {
  /// Opens an existing store for reading, and reports what opening found.
  ///
  /// Without `holdingValues` it needs no memory for the values of the newest state: for commands
  /// that read history, or only some objects.
  func openForReading(_ path: String, holdingValues: Bool = true) throws -> Store {
    var options = StoreOptions.readOnly
    options.holdsValues = holdingValues
    return try open(path, options)
  }

  /// Opens an existing store for writing, and reports what opening found.
  func openForWriting(_ path: String) throws -> Store {
    try open(path, StoreOptions())
  }

  /// Opens an existing store for a transaction, and reports what opening found. Refuses a replica
  /// of a shared log.
  func openForChanging(_ path: String) throws -> Store {
    let store = try openForWriting(path)
    try refuseReplica(store, path)
    return store
  }

  /// Refuses a replica of a shared log, which a transaction of another origin would part from it.
  func refuseReplica(_ store: Store, _ path: String) throws {
    // Where the newest transaction cannot be read, the file may still be written to.
    guard (try? store.isReplica()) == true else { return }
    throw CommandFailure(
      "\(path) is a replica of a shared log. What is written to it here would part it from the "
        + "log, and no replica would open it again: write through a program that opens it as a "
        + "replica. annals put --leave-log writes all the same, and makes it a store of its own")
  }

  /// Refuses a file that is a replica of a shared log; one that cannot be read is left to whoever
  /// opens it next.
  func refuseReplica(at path: String) throws {
    guard let opened = try? Store(path: path, options: .looking, environment: store) else { return }
    defer { try? opened.close() }
    try refuseReplica(opened, path)
  }

  /// Opens an existing store for writing, or for reading without values.
  func open(_ path: String, forWriting: Bool) throws -> Store {
    try forWriting ? openForWriting(path) : openForReading(path, holdingValues: false)
  }

  /// Opens or creates a store for writing, and reports what opening found. Transactions name the
  /// process unless `namesProcess` is false.
  func openOrCreate(
    _ path: String, _ options: StoreOptions, namesProcess: Bool = true
  ) throws -> Store {
    var environment = store
    if !namesProcess { (environment.processName, environment.processID) = ("", 0) }
    let opened = try Store(.file(path), creates: true, options: options, environment: environment)
    report(opened.findings, of: path)
    return opened
  }

  private func open(_ path: String, _ options: StoreOptions) throws -> Store {
    let opened = try Store(path: path, options: options, environment: store)
    report(opened.findings, of: path)
    return opened
  }

  /// Reports what opening a store found.
  func report(_ findings: [StoreFinding], of path: String) {
    for finding in findings { report("\(path): \(finding.message).") }
  }

  /// Reads a TOKEN. Reports once that a date is later than now.
  func token(_ text: String) throws -> TokenArgument {
    let now = now()
    let token = try TokenArgument(text, zone: zone, now: now)
    if let start = token.start, start > now {
      reportOnce("note: \(text) is later than now, and is read as now")
    }
    return token
  }

  /// Reads a date's value: a date, the start of a day, or an age; nil for anything else. A month
  /// and a year are no moments.
  func moment(_ text: String) -> Timestamp? {
    if let date = WrittenDate(text), date.day == nil { return nil }
    return TokenArgument.moment(text, zone, now: now())?.start
  }

  /// The day of a typed text: `2019-10-06`, or the day of a moment in relation to now.
  func day(_ text: String) -> CalendarDay? {
    if WrittenDate(text) != nil { return CalendarDay(text) }
    return moment(text).map { CalendarDay(of: $0, offset: zone.offset) }
  }

  /// The number of the last transaction at or before the position of a TOKEN: for `--at`, `--after`
  /// and `--to`.
  func number(_ text: String, in store: Store) throws -> Int64 {
    try store.version.number(at: try token(text).place(in: store.version, isEnd: true), now)
  }

  /// The number of the transaction at the position of a TOKEN.
  ///
  /// - Throws: `CommandFailure` if none was recorded up to then.
  func transactionNumber(_ text: String, in store: Store) throws -> Int64 {
    let number = try number(text, in: store)
    guard number == 0, try token(text) != .number(0), let first = try firstDate(of: store) else {
      return number
    }
    throw CommandFailure("nothing was recorded up to \(text); \(first)")
  }

  /// Refuses a state from before the first transaction, which has no entities. `at` is its TOKEN.
  func refuseBeforeFirst(_ snapshot: Snapshot, at: String?, _ store: Store) throws {
    guard let at, snapshot.number == 0, let first = try firstDate(of: store) else { return }
    throw CommandFailure("as of \(at) the store was still empty; \(first)")
  }

  /// What is said of the first transaction; nil if there is none, or not any more.
  private func firstDate(of store: Store) throws -> String? {
    guard store.base.number == 0, store.token.number > 0 else { return nil }
    let first = Timestamp(try store.transaction(1).timestamp)
    return "the first transaction is 1, of \(zone.text(first))"
  }

  /// The position of a TOKEN for `prune --before`: the start of a period.
  func placeBefore(_ text: String, in store: Store) throws -> HistoryPlace {
    try token(text).place(in: store.version, isEnd: false)
  }

  /// The number of the last transaction before the position of a TOKEN.
  func number(before text: String, in store: Store) throws -> Int64 {
    let place = try placeBefore(text, in: store)
    if case .number(let number) = place.kind {
      // One past the newest is a valid bound. A greater number is an error that names it.
      if number > store.token.number + 1 { return try store.version.number(at: place, now) }
      return try store.version.number(at: .number(max(number, store.base.number + 1) - 1), now)
    }
    return try store.version.number(before: place, now)
  }
}
