import AnnalsStorage
import SystemPackage

/// The state of a `FaultyFileSystem`: for files and names, the durable state, the state that
/// processes see, and the changes between the two.
struct FaultyDisk: Sendable {
  /// One unsynced change of a file.
  struct Change: Sendable {
    enum Kind: Sendable {
      case write(at: Int, ContiguousArray<UInt8>)
      case grow(to: Int)
      case resize(to: Int)
    }
    var kind: Kind
    /// Orders the changes of all files.
    var sequence: UInt64
    /// Whether the cache believes that the disk has it, so that no sync writes it.
    var isBelievedClean = false
  }

  struct File: Sendable {
    var durable = ContiguousArray<UInt8>()
    var visible = ContiguousArray<UInt8>()
    var pending: [Change] = []
    var openCount = 0
    /// The number of syncs that lost written bytes.
    var lossCount = 0
    let locks = LockTable()
  }

  enum NameChange: Sendable, Hashable {
    case add(String, UInt64)
    case move(String, String, UInt64)
    case remove(String)

    func apply(to names: inout [String: UInt64]) {
      switch self {
      case .add(let name, let file): names[name] = file
      case .remove(let name): names[name] = nil
      case .move(let from, let to, let file):
        names[to] = file
        names[from] = nil
      }
    }
  }

  var files: [UInt64: File] = [:]
  var names: [String: UInt64] = [:]
  var durableNames: [String: UInt64] = [:]
  var pendingNames: [NameChange] = []
  var points: [FaultPoint] = []
  var crashPoint = Int.max
  var hasCrashed = false
  var injections: [FaultInjection] = []
  var injectedCount = 0
  /// The number of calls of each kind, failed ones included.
  var callCounts: [StorageError.Operation: Int] = [:]
  var settings: FaultySettings
  let seed: UInt64
  private var lastNumber: UInt64 = 0

  init(seed: UInt64, _ settings: FaultySettings) {
    self.seed = seed
    self.settings = settings
  }

  mutating func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  mutating func open(
    _ file: UInt64, path: String, access: FileAccess, in files: FaultyFileSystem
  ) -> FaultyFile {
    let locks = self.files[file]?.locks ?? LockTable()
    self.files[file]?.openCount += 1
    return FaultyFile(
      file, path: path, number: nextNumber(), access: access, locks: locks,
      told: self.files[file]?.lossCount ?? 0, in: files)
  }

  /// A disk after a restart with these files and names.
  static func restarted(
    from disk: FaultyDisk, files: [UInt64: ContiguousArray<UInt8>], names: [String: UInt64]
  ) -> FaultyDisk {
    var restarted = FaultyDisk(seed: disk.seed &+ 1, disk.settings)
    restarted.lastNumber = disk.lastNumber
    restarted.names = names
    restarted.durableNames = names
    restarted.files = files.mapValues { File(durable: $0, visible: $0) }
    return restarted
  }

  /// The disk after the process was killed: all changes are kept, still unsynced.
  func afterKill() -> FaultyDisk {
    var copy = self
    copy.points = []
    copy.crashPoint = .max
    copy.hasCrashed = false
    copy.injections = []
    copy.callCounts = [:]
    copy.files = files.mapValues {
      File(durable: $0.durable, visible: $0.visible, pending: $0.pending)
    }
    return copy
  }
}

// Calls: power cuts, injected errors, and points.
extension FaultyDisk {
  /// Throws if a call that changes nothing fails.
  mutating func check(_ operation: StorageError.Operation, _ path: String) throws(StorageError) {
    if hasCrashed { throw StorageError(operation, path, .operationNotSupportedByDevice) }
    if let injection = nextInjection(operation, path) {
      throw StorageError(operation, path, injection.errno)
    }
  }

  /// Counts a point and runs a call that changes something, unless the power fails there or an
  /// error is injected. Passes `body` its effect: `.complete` unless something fails. At a power
  /// cut a change still happens, unsynced, but a sync does not.
  mutating func run(
    _ operation: StorageError.Operation, _ path: String, _ range: Range<UInt64> = 0..<0,
    _ body: (inout FaultyDisk, FaultInjection.Effect) -> Void
  ) throws(StorageError) {
    if hasCrashed { throw StorageError(operation, path, .operationNotSupportedByDevice) }
    points.append(FaultPoint(operation: operation, path: path, range: range))
    if points.count - 1 == crashPoint {
      hasCrashed = true
      if operation != .sync && operation != .syncDirectory { body(&self, .complete) }
      throw StorageError(operation, path, .operationNotSupportedByDevice)
    }
    if let injection = nextInjection(operation, path) {
      if injection.effect != .none { body(&self, injection.effect) }
      throw StorageError(operation, path, injection.errno)
    }
    body(&self, .complete)
  }

  private mutating func nextInjection(
    _ operation: StorageError.Operation, _ path: String
  ) -> FaultInjection? {
    callCounts[operation, default: 0] += 1
    var found: FaultInjection?
    for index in injections.indices where injections[index].operation == operation {
      guard injections[index].count > 0, path.hasSuffix(injections[index].pathSuffix) else {
        continue
      }
      if injections[index].countdown > 0 {
        injections[index].countdown -= 1
      } else if found == nil {
        injections[index].count -= 1
        injectedCount += 1
        found = injections[index]
      }
    }
    return found
  }

  /// Runs a call that changes names.
  mutating func changeNames(
    _ operation: StorageError.Operation, _ path: String, _ body: (inout FaultyDisk) -> Void
  ) throws(StorageError) {
    try run(operation, path) { disk, effect in
      if effect == .complete { body(&disk) }
    }
  }

  mutating func appendNameChange(_ change: NameChange) {
    change.apply(to: &names)
    pendingNames.append(change)
  }

  mutating func syncNames() {
    durableNames = names
    pendingNames = []
    forgetUnreachableFiles()
  }

  mutating func close(_ file: UInt64) {
    files[file]?.openCount -= 1
    forgetUnreachableFiles()
  }

  /// Drops files without a name that are not open and that no power cut can bring back.
  private mutating func forgetUnreachableFiles() {
    guard pendingNames.isEmpty else { return }
    let named = Set(names.values)
    files = files.filter { $0.value.openCount > 0 || named.contains($0.key) }
  }
}
