import AnnalsStorage

/// A shared log in the memory of one process: for tests of programs that use replicas, and for
/// trying them. What is in it is gone with it.
///
/// With `LogFaults` it does what networks and servers do; `loseTail` and `restore` do what happens
/// to servers that were restored.
public final class InMemorySharedLog: SharedLog {
  /// All that the log holds at some moment, for `restore`.
  public struct Contents: Sendable {
    package var first: UInt64 = 1
    package var records: [SharedRecord] = []
    var objects: [String: SharedObject] = [:]
    var pieces: [String: [Int: [UInt8]]] = [:]

    /// The sequence of the last record; 0 if there never was any.
    public var last: UInt64 { first + UInt64(records.count) - 1 }
  }

  /// The most bytes of one record.
  public let longestRecord: Int
  /// The most bytes of one piece of an object.
  public let longestPiece: Int
  /// How many identifiers are remembered.
  private let memory: Int
  private let inside: Locked<Inside>
  private let turnListeners = TurnListeners()

  fileprivate struct Inside {
    var contents = Contents()
    /// The objects as they were when the last record was appended.
    var olderObjects: [String: SharedObject] = [:]
    /// The identifiers that are remembered, with the sequences of their records; the oldest first.
    var remembered: [String: UInt64] = [:]
    var order: ArraySlice<String> = []
    /// Records that are on their way.
    var late: [(record: SharedRecord, last: SharedLogEnd)] = []
    var faults: LogFaults
    var dice: SplitMix64
    var isReachable = true
    var listeners: [Int: AsyncStream<UInt64>.Continuation] = [:]
    var nextListener = 0
  }

  /// An empty log.
  ///
  /// - Parameters:
  ///   - faults: what goes wrong.
  ///   - longestRecord: the most bytes of one record; longer transactions become objects.
  ///   - longestPiece: the most bytes of one piece of an object.
  ///   - memory: how many identifiers of records are remembered.
  public init(
    faults: LogFaults = LogFaults(), longestRecord: Int = 1 << 20, longestPiece: Int = 1 << 20,
    memory: Int = 1_000
  ) {
    self.longestRecord = longestRecord
    self.longestPiece = longestPiece
    self.memory = memory
    inside = Locked(Inside(faults: faults, dice: SplitMix64(seed: faults.seed)))
  }

  /// Appends a record; see `SharedLog`.
  public func append(
    _ record: SharedRecord, after last: SharedLogEnd
  ) async throws(SharedLogError) -> UInt64 {
    try await begin()
    guard record.bytes.count <= longestRecord else { throw .tooLong(limit: longestRecord) }
    return try inside.withLock { (inside) throws(SharedLogError) in
      let faults = inside.faults
      if inside.happens(faults.lostRequest) { throw .unknownOutcome("the request was lost") }
      if inside.happens(faults.lateArrival) {
        inside.late.append((record, last))
        throw .unknownOutcome("the request is on its way")
      }
      let sequence = try inside.append(record, after: last, remembering: memory)
      if inside.happens(faults.lostAcknowledgement) {
        throw .unknownOutcome("the acknowledgement was lost")
      }
      return sequence
    }
  }

  /// Some of the records; see `SharedLog`.
  public func records(
    from sequence: UInt64, limit: Int
  ) async throws(SharedLogError) -> SharedLogPage {
    try await begin()
    return inside.withLock { inside in
      let contents = inside.contents
      var page = SharedLogPage(records: [], first: contents.first, last: contents.last)
      let start = max(sequence, contents.first)
      if start <= contents.last {
        for place in start...min(contents.last, start + UInt64(max(limit, 1)) - 1) {
          page.records.append((place, contents.records[Int(place - contents.first)]))
        }
      }
      if inside.happens(inside.faults.duplicate),
        let any = page.records.randomElement(using: &inside.dice)
      {
        page.records.append(any)
      }
      if inside.happens(inside.faults.reordering) { page.records.shuffle(using: &inside.dice) }
      return page
    }
  }

  /// Tells of new records; see `SharedLog`.
  public func growth(after sequence: UInt64) -> AsyncStream<UInt64> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: UInt64.self, bufferingPolicy: .bufferingNewest(1))
    let number = inside.withLock { inside in
      defer { inside.nextListener += 1 }
      inside.listeners[inside.nextListener] = continuation
      let last = inside.contents.last
      if last > sequence { continuation.yield(last) }
      return inside.nextListener
    }
    continuation.onTermination = { [weak self] _ in
      self?.inside.withLock { _ = $0.listeners.removeValue(forKey: number) }
    }
    return stream
  }

  /// Asks for a turn; see `SharedLog`.
  public func ask(for turn: TurnRequest) {
    if isReachable { turnListeners.tell(turn) }
  }

  /// What is asked for; see `SharedLog`.
  public func turnRequests() -> AsyncStream<TurnRequest> { turnListeners.add() }

  // MARK: Objects

  /// Stores a piece; see `SharedLog`.
  public func put(
    _ piece: [UInt8], at index: Int, of object: String
  ) async throws(SharedLogError) {
    try await begin()
    guard piece.count <= longestPiece else { throw .tooLong(limit: longestPiece) }
    inside.withLock { $0.contents.pieces[object, default: [:]][index] = piece }
  }

  /// Completes an object; see `SharedLog`.
  public func complete(_ object: SharedObject) async throws(SharedLogError) {
    try await begin()
    inside.withLock { $0.contents.objects[object.name] = object }
  }

  /// The objects; see `SharedLog`.
  public func objects(beginning prefix: String) async throws(SharedLogError) -> [SharedObject] {
    try await begin()
    return inside.withLock { inside in
      let isStale = inside.happens(inside.faults.staleListing)
      let objects = isStale ? inside.olderObjects : inside.contents.objects
      return objects.values.filter { $0.name.hasPrefix(prefix) }
        .sorted { $0.name < $1.name }
    }
  }

  /// Pieces of an object; see `SharedLog`.
  public func pieces(
    _ range: Range<Int>, of object: SharedObject
  ) async throws(SharedLogError) -> [[UInt8]] {
    try await begin()
    return try inside.withLock { (inside) throws(SharedLogError) in
      let isThere = inside.contents.objects[object.name] == object
      let stored = isThere ? inside.contents.pieces[object.name] ?? [:] : [:]
      let pieces = Array(range.prefix { stored[$0] != nil }.compactMap { stored[$0] })
      if pieces.isEmpty { throw .missing("piece \(range.lowerBound) of \(object.name)") }
      return pieces
    }
  }

  /// Removes an object; see `SharedLog`.
  public func remove(object name: String) async throws(SharedLogError) {
    try await begin()
    inside.withLock {
      $0.contents.objects[name] = nil
      $0.contents.pieces[name] = nil
    }
  }

  /// Drops records; see `SharedLog`.
  public func trim(before sequence: UInt64) async throws(SharedLogError) {
    try await begin()
    inside.withLock { inside in
      let first = inside.contents.first
      guard sequence > first else { return }
      let count = min(Int(clamping: sequence - first), inside.contents.records.count)
      inside.contents.records.removeFirst(count)
      inside.contents.first += UInt64(count)
    }
  }

  // MARK: What tests do to it

  /// The faults from now on.
  public var faults: LogFaults {
    get { inside.withLock { $0.faults } }
    set {
      inside.withLock {
        $0.faults = newValue
        $0.dice = SplitMix64(seed: newValue.seed)
      }
    }
  }

  /// Whether the log can be reached; if not, every call throws `.unavailable`.
  public var isReachable: Bool {
    get { inside.withLock { $0.isReachable } }
    set { inside.withLock { $0.isReachable = newValue } }
  }

  /// What the log holds now.
  public var contents: Contents { inside.withLock { $0.contents } }

  /// Goes back to what the log held once: a backup is restored. It forgets identifiers, and tells
  /// those who wait for its growth.
  public func restore(_ contents: Contents) {
    inside.withLock {
      $0.contents = contents
      $0.remembered = [:]
      $0.order = []
      $0.late = []
      for listener in $0.listeners.values { listener.yield(contents.last) }
    }
  }

  /// Loses the last records, as a server that had not synced them. It forgets identifiers.
  public func loseTail(_ count: Int) {
    var contents = contents
    contents.records.removeLast(min(count, contents.records.count))
    restore(contents)
  }

  /// Replaces the bytes of a record: damage.
  public func damage(_ sequence: UInt64, _ change: (inout [UInt8]) -> Void) {
    var contents = contents
    guard sequence >= contents.first, sequence <= contents.last else { return }
    change(&contents.records[Int(sequence - contents.first)].bytes)
    restore(contents)
  }

  // MARK: Faults

  /// What every call begins with.
  private func begin() async throws(SharedLogError) {
    let isDelayed = inside.withLock { $0.happens($0.faults.delay) }
    if isDelayed { for _ in 0..<8 { await Task.yield() } }
    try inside.withLock { (inside) throws(SharedLogError) in
      inside.deliver(remembering: memory)
      guard inside.isReachable else { throw .unavailable("the log was made unreachable") }
      if inside.happens(inside.faults.unavailable) { throw .unavailable("the dice said so") }
    }
  }
}

extension InMemorySharedLog.Inside {
  /// Throws the dice.
  fileprivate mutating func happens(_ probability: Double) -> Bool {
    probability > 0 && Double.random(in: 0..<1, using: &dice) < probability
  }

  /// Lets the records arrive that were on their way.
  fileprivate mutating func deliver(remembering memory: Int) {
    let arriving = late
    late = []
    for (record, last) in arriving { _ = try? append(record, after: last, remembering: memory) }
  }

  fileprivate mutating func append(
    _ record: SharedRecord, after last: SharedLogEnd, remembering memory: Int
  ) throws(SharedLogError) -> UInt64 {
    if let known = remembered[record.id] { return known }
    let isLast = contents.records.last.map { $0.id == last.id } ?? true
    guard contents.last == last.sequence, isLast else { throw .behind(last: contents.last) }
    contents.records.append(record)
    olderObjects = contents.objects
    remember(record.id, memory)
    for listener in listeners.values { listener.yield(contents.last) }
    return contents.last
  }

  /// Remembers the identifier of the last record, and forgets the oldest if they are too many.
  private mutating func remember(_ id: String, _ memory: Int) {
    remembered[id] = contents.last
    order.append(id)
    while order.count > memory, let oldest = order.popFirst() { remembered[oldest] = nil }
    // What a slice has dropped keeps its memory.
    if order.startIndex > 2 * memory + 1_000 { order = Array(order)[...] }
  }
}
