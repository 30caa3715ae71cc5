import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import SystemPackage

// Maps the typed errors of the inner modules to the one public error, and adds the remedy.

extension AnnalsError {
  /// Translates an error of the log for a user of the store.
  package init(_ error: LogError, opening path: String? = nil) {
    let file = path ?? "the store"
    switch error {
    case .storage(let error): self.init(error)
    case .header(let fault): self.init(fault, file)
    case .damage(let damage):
      self.init(damage: damage.reason, in: file, lastGood: damage.lastGood, at: damage.offset)
    case .decode(let fault, let offset) where fault.isNewer:
      self = .newerBytes(fault, file, at: offset)
    case .decode(let fault, let offset):
      self.init(
        .damaged,
        "a record of \(file) cannot be decoded (\(fault)). Verify the file to see what is "
          + "affected; salvaging it saves everything readable", offset: offset)
    case .outcomeUnknown(let error) where error.isInherited,
      .poisoned(let error) where error.isInherited:
      self = .forked
    case .outcomeUnknown(let error):
      self.init(
        .outcomeUnknown,
        "\(error) What was not synced before may have been recorded or not: the last transaction, "
          + "and with .deferred all since the last sync. Close the store, repair the disk, and "
          + "open it again to see", underlying: error.errno)
    case .poisoned(let error):
      self.init(
        .poisoned,
        "nothing more is written to \(file), since an earlier call failed: \(error) Close the "
          + "store, repair the disk, and open it again", underlying: error.errno)
    case .closed: self = .closedStore
    case .readOnly: self = .readOnlyStore(file)
    case .busy: self = .busy(file, holder: nil)
    case .missing: self = .missingFile(file)
    case .interrupted(let misfit as TransactionMisfit): self.init(misfit, in: file)
    case .interrupted(let inner): self = AnnalsError.translated(inner)
    default: self.init(rare: error, file)
    }
  }

  private init(rare error: LogError, _ file: String) {
    switch error {
    case .newerWriter(let bits):
      self.init(
        .newerVersion,
        "\(file) has features of a newer version (\(Features.text(bits))), which a writer must "
          + "know; it is not damaged, and can be read. Write to it with a newer version of Annals")
    case .newerReader(let bits, let offset): self = .newerFeatures(bits, file, at: offset)
    case .foreign(let reason):
      self.init(
        .otherStore, "another file has taken the place of \(file): \(reason). Open it again")
    case .overwritten(let head):
      self.init(
        .lostBranch,
        "an older copy was written over \(file) while it was open: of the transactions up to "
          + "\(head) that were known here, some are not in it. Nothing was written. Put the newer "
          + "file back if there is one, then open the store again")
    case .rewound(let number):
      self.init(
        .lostBranch,
        "transactions after \(number) are gone from \(file): their writer could not sync them")
    case .placementUnknown(let path, let error):
      self.init(
        .outcomeUnknown,
        "\(error) Whether \(path) was made is not known: after a power cut it may be there, whole, "
          + "or not. Repair the disk, then look; if it is there, use it, or remove it and try "
          + "again",
        underlying: error.errno)
    case .exists(let path):
      self.init(.alreadyExists, "\(path) exists already; choose another name or remove it first")
    case .occupied(let path, let reason):
      self.init(
        .alreadyExists,
        "\(path) is in the way: \(reason). It was left alone, and nothing was changed. Rename it "
          + "or remove it, then try again")
    case .hardLinked(let count):
      self.init(
        .unsupported,
        "\(file) has \(count) names (hard links), so it cannot be replaced; remove the others first"
      )
    case .tooLarge(let length, let limit):
      self.init(.tooLarge, "a record would have \(length) bytes; the limit is \(limit)")
    case .detailsTooLarge(let length, let limit):
      self.init(
        .tooLarge,
        "the transaction's author, context, metadata and changes of the schema take \(length) "
          + "bytes together; the most is \(limit)")
    case .numbersSpent(let what):
      self.init(
        .tooLarge,
        "nothing can be added to \(file): \(what) has the greatest number that there is. Move what "
          + "it holds to a new store by exporting and importing it")
    case .unsupported(let kind, let offset):
      self.init(
        .newerVersion,
        "\(file) has a frame of kind \(kind), which this version cannot read; use a newer one",
        offset: offset)
    case .largeValueMissing(let number):
      self.init(
        .damaged, "the bytes of large value \(number) are missing from \(file). Verify it")
    case .largeValueLost(let number):
      self.init(
        .lost,
        "the bytes of large value \(number) were lost to damage before \(file) was salvaged")
    case .outside(let base, let head):
      self.init(.beyondHead, "\(file) holds the states of transactions \(base) to \(head) only")
    default: self.init(.io, "\(error)")
    }
  }

  /// The error for damage to acknowledged data.
  private init(damage reason: String, in file: String, lastGood: Int64?, at offset: UInt64?) {
    let good = lastGood.map { "; transactions up to \($0) can be read" } ?? ""
    self.init(
      .damaged,
      "\(file) is damaged: \(reason)\(good). Nothing was changed. Verify it to see what is "
        + "affected; restore a copy, or salvage everything readable into a new file",
      offset: offset)
  }

  /// Translates a transaction that does not fit the state before it.
  private init(_ misfit: TransactionMisfit, in file: String) {
    self.init(
      damage: "\(misfit)", in: file, lastGood: misfit.number - 1, at: misfit.offset)
  }

  /// The error for a header that only its checksum, or the log after it, shows to be wrong.
  private init(headerDamage reason: String, in file: String) {
    self.init(
      .damaged,
      "the header of \(file) is damaged\(reason). Nothing was changed. Restore a copy, or salvage "
        + "everything readable into a new file", offset: 0)
  }

  /// Translates an error of the file system.
  package init(_ error: StorageError) {
    if error.isInherited {
      self = .forked
      return
    }
    self.init(Code(of: error.errno), "\(error)", underlying: error.errno)
  }

  /// Translates a header that cannot be used.
  private init(_ fault: HeaderFault, _ file: String) {
    switch fault {
    case .tooShort(let count):
      self.init(
        .notAnAnnalsFile,
        "\(file) is not an Annals store: it has \(count == 0 ? "no" : "only \(count)") bytes. It "
          + "was left as it is. Check the path", offset: 0)
    case .cut(let count):
      self.init(
        .damaged,
        "\(file) is damaged: it begins as an Annals store, and ends within its header (\(count) of "
          + "\(FormatLimits.blockLength) bytes), so that everything after it is gone and nothing "
          + "can be salvaged. It was left as it is. Restore a copy", offset: UInt64(count))
    case .notAnnals:
      self.init(
        .notAnAnnalsFile, "\(file) is not an Annals store; it was left as it is. Check the path",
        offset: 0)
    case .newerVersion(let version, let draft):
      self.init(
        .newerVersion,
        "\(file) says that a newer version wrote it (format \(version), draft \(draft)). Use a "
          + "newer version of Annals; if there is none, the header is damaged, and the rest can be "
          + "salvaged")
    case .olderDraft(let draft):
      self.init(
        .unsupported,
        "\(file) was written in draft \(draft) of the format, before version 1. "
          + HeaderFault.remedy(forDraft: draft))
    case .checksum: self.init(headerDamage: "", in: file)
    case .foreign:
      self.init(
        headerDamage:
          ": it is of another store, or of another generation of this one, than the log after it",
        in: file)
    case .unknownFeatures(let bits): self = .newerFeatures(bits, file, at: nil)
    case .invalid(let fault): self.init(headerDamage: ": \(fault)", in: file)
    }
  }

  /// Any error as the public one; an `AnnalsError` stays as it is. `number` is that of the
  /// transaction whose state was read, for names that a past state lacks.
  @usableFromInline
  package static func translated(
    _ error: any Error, opening path: String? = nil, asOf number: Int64? = nil
  ) -> AnnalsError {
    switch error {
    case let error as AnnalsError: error
    case let error as LogError: AnnalsError(error, opening: path)
    case let error as StateFault: AnnalsError(error, asOf: number)
    case let error as TransactionMisfit: AnnalsError(error, in: "the store")
    case let error as StorageError: AnnalsError(error)
    default: AnnalsError(.io, "\(error)")
    }
  }

  /// Runs `body` and translates errors of the inner modules into public errors.
  @inlinable @inline(__always)
  package static func translating<T>(_ body: () throws -> T) throws(AnnalsError) -> T {
    do {
      return try body()
    } catch {
      throw translated(error)
    }
  }

  /// As `translating`, but errors of the caller's code stay as they are.
  static func translatingFaults<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch {
      if error is LogError || error is StateFault { throw translated(error) }
      throw error
    }
  }
}

extension AnnalsError {
  /// The error for a file that uses features, given as bits, that a reader must know and this
  /// version does not. `offset` is that of the frame or slot that names them; nil for the header.
  package static func newerFeatures(_ bits: UInt64, _ file: String, at offset: UInt64?)
    -> AnnalsError
  {
    AnnalsError(
      .newerVersion,
      "\(file) needs features of a newer version (\(Features.text(bits))); it is not damaged. "
        + "Use a newer version of Annals", offset: offset)
  }

  /// The error for a frame in a form that only later versions know.
  static func newerBytes(_ fault: DecodeFault, _ file: String, at offset: UInt64) -> AnnalsError {
    AnnalsError(
      .newerVersion,
      "\(file) is of a newer version: \(fault); it is not damaged. Use a newer "
        + "version of Annals", offset: offset)
  }

  package static var nestedWrite: AnnalsError {
    AnnalsError(
      .nestedWrite,
      "a write, checkpoint, refresh or close inside the closure of a write of the same store, "
        + "which it would wait for for ever. Use the transaction that the closure is given, or "
        + "call it after the write")
  }

  /// The error for a write inside the closure of a write of another open store of the same file.
  static func nestedWriteToFile(_ path: String) -> AnnalsError {
    AnnalsError(
      .nestedWrite,
      "a write to \(path) inside the closure of a write of another open store of that file, which "
        + "it would wait for for ever. Use the transaction that the closure is given, or write "
        + "after it")
  }

  /// The error for a lock that was not free in time; `holder` holds it, if that is known.
  static func busy(_ path: String, holder: LockHolder?) -> AnnalsError {
    var who = "another process, or another open store of this one, is writing to \(path)"
    if let holder {
      let name = holder.isCurrentProcess ? "another open store of this process" : "\(holder)"
      who = "the lock of \(path) is held by \(name)"
    }
    return AnnalsError(
      .busy, "\(who). Try again later, or wait longer with `StoreOptions.lockTimeout`")
  }

  /// The error for a call in a fork of the process that opened the store.
  static var forked: AnnalsError {
    AnnalsError(
      .forked,
      "this process was forked from the one that opened the store, which no store survives: "
        + "nothing was written. Open the store again in this process")
  }

  /// The error for a write to a suspended store.
  static var suspendedStore: AnnalsError {
    AnnalsError(.suspended, "the store is suspended; nothing was recorded. Write after `resume()`")
  }

  /// The error for a write of a task that was cancelled.
  package static var cancelledWrite: AnnalsError {
    AnnalsError(
      .cancelled, "the task was cancelled before the write began; nothing was recorded")
  }

  package static var closedStore: AnnalsError {
    AnnalsError(.closed, "the store has been closed")
  }

  package static func readOnlyStore(_ path: String) -> AnnalsError {
    AnnalsError(.readOnly, "\(path) was opened for reading only; open it for writing")
  }

  /// The error for a relationship with too many objects.
  package static func tooManyReferences(_ count: Int, _ place: String) -> AnnalsError {
    AnnalsError(
      .tooLarge,
      "\(place) would name \(count) objects; the most is \(FormatLimits.maximumReferences)")
  }

  /// The error for an object whose row would lie beyond the last possible one.
  static func noMoreRows(_ entity: String, _ row: Int64) -> AnnalsError {
    AnnalsError(
      .tooLarge,
      "\(entity)#\(row) cannot be: the rows of an entity go to \(FormatLimits.maximumRow), and "
        + "none is used twice")
  }

  /// The error for an unknown entity name; of a state of the past with the number of its
  /// transaction.
  package static func unknownEntity(
    _ name: String, in schema: Schema, asOf number: Int64? = nil
  ) -> AnnalsError {
    let names = schema.entities.filter { !$0.isRemoved }.map(\.name)
    let known = names.isEmpty ? "; it has none" : "; it has " + names.joined(separator: ", ")
    let near = NearName.hint(name, among: names)
    return AnnalsError(
      .invalidArgument,
      (number.map { "as of transaction \($0) " } ?? "")
        + "the store has no entity \(name)\(near.isEmpty ? known : near)")
  }

  /// The error for a look-up by an attribute that is not unique.
  static func notUnique(_ attribute: String, of entity: Entity) -> AnnalsError {
    let unique = entity.attributes.filter { $0.isUnique && !$0.isRemoved }.map(\.name)
    let known = unique.isEmpty ? "no attribute is" : "unique: " + unique.joined(separator: ", ")
    return AnnalsError(
      .invalidArgument, "\(entity.name).\(attribute) is not a unique attribute (\(known))")
  }

  /// The error for an object of another store.
  static func foreignObject(_ id: ObjectID, in store: RawUUID) -> AnnalsError {
    AnnalsError(
      .otherStore,
      "the object is one of store \(id.store), this is store \(store). Find it here by a unique "
        + "value")
  }

  /// The error for a file that does not exist.
  package static func missingFile(_ path: String) -> AnnalsError {
    AnnalsError(
      .notFound, "there is no file at \(path); \(StorageError.check(ofMissing: path))")
  }

  /// The error for an object that does not exist in this store.
  package static func objectNotFound(
    _ id: ObjectID, in schema: Schema, of store: RawUUID
  ) -> AnnalsError {
    guard id.store == store else { return .foreignObject(id, in: store) }
    let name = schema.entity(numbered: id.entity)?.name ?? "entity \(id.entity) "
    return AnnalsError(.noSuchObject, "there is no object \(name)#\(id.row)")
  }
}

extension ObjectID {
  /// Throws `.otherStore` if the object is one of another store.
  package func requireOwn(_ store: RawUUID) throws(AnnalsError) {
    if self.store != store { throw .foreignObject(self, in: store) }
  }
}

extension AnnalsError.Code {
  /// The code for an error of the system.
  package init(of errno: Errno) {
    self =
      switch errno {
      case .noSpace, .diskQuotaExceeded: .noSpace
      case .permissionDenied, .notPermitted, .readOnlyFileSystem: .permission
      case .noSuchFileOrDirectory: .notFound
      case .fileExists: .alreadyExists
      default: .io
      }
  }
}
