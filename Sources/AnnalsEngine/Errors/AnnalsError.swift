import AnnalsModel
import SystemPackage

/// The one public error: thrown by every call that touches the disk or takes input from outside the
/// program.
///
/// `message` says what happened, where, and what to do. The other properties hold the same for
/// programs. Each is nil or empty unless the description of its code says otherwise.
public struct AnnalsError: Error, Sendable {
  /// The kind of error.
  public var code: Code
  /// What happened, where, and what to do about it. Ends without a full stop, so that a caller can
  /// continue the sentence.
  public var message: String
  /// The offset in the file; nil if the error has none.
  public var offset: UInt64?
  /// The operating system's error; nil if none caused this one.
  public var underlying: Errno?
  /// The place in the text that was read in, where there is one.
  public package(set) var inputPlace: InputPlace?
  private var details: Details?

  /// Creates an error from its parts.
  public init(
    _ code: Code, _ message: String, offset: UInt64? = nil, underlying: Errno? = nil
  ) {
    self.code = code
    self.message = message
    self.offset = offset
    self.underlying = underlying
  }

  private init(_ code: Code, _ message: String, _ details: Details) {
    self.init(code, message)
    self.details = details
  }

  /// Properties that only some codes have.
  private indirect enum Details: Sendable {
    case schema([SchemaConflict])
    case violations([ValidationViolation])
    case gap(HistoryGap)
    case lost(LostTransactions)
    case lastShared(Token?)
    case conflicts([PropertyConflict])
    case thrown(any Error)
    case blockers([String])
  }
}

extension AnnalsError: CustomStringConvertible {
  /// The message, with the offset and the system's error if there are any.
  public var description: String {
    var text = message
    if let offset { text += " (offset \(offset))" }
    // Most messages already name the offset.
    if let underlying, !message.contains(underlying.description) {
      text += text.hasSuffix(".") ? " (\(underlying))" : ": \(underlying)"
    }
    return text
  }
}

extension AnnalsError {
  /// Everything that makes a schema impossible; for code `invalidSchema`.
  public var schemaConflicts: [SchemaConflict] {
    if case .schema(let conflicts) = details { conflicts } else { [] }
  }

  /// Every rule that the transaction's changes break; for code `invalidChange`.
  public var violations: [ValidationViolation] {
    if case .violations(let violations) = details { violations } else { [] }
  }

  /// The history that the store no longer has; for code `pruned`.
  public var gap: HistoryGap? {
    if case .gap(let gap) = details { gap } else { nil }
  }

  /// The missing transactions; for code `lost`.
  public var lostTransactions: LostTransactions? {
    if case .lost(let lost) = details { lost } else { nil }
  }

  /// The newest position that the token's history and the store's have in common, if it is known;
  /// for code `lostBranch`.
  public var lastShared: Token? {
    if case .lastShared(let token) = details { token } else { nil }
  }

  /// The properties that changed meanwhile; for code `conflict`.
  public var conflicts: [PropertyConflict] {
    if case .conflicts(let conflicts) = details { conflicts } else { [] }
  }
}

extension AnnalsError {
  /// The error that the program's own code threw, or that refused what it did; for codes
  /// `projectionFailed`, `migrationFailed`, and `cancelled` where `StoreOptions.progress` threw.
  public var thrown: (any Error)? {
    if case .thrown(let error) = details { error } else { nil }
  }

  /// The error for a projection whose code threw; `doing` says during what. An `AnnalsError` stays
  /// as it is.
  package static func projection(
    _ name: String, _ doing: String, _ error: any Error
  ) -> AnnalsError {
    if let error = error as? AnnalsError { return error }
    return AnnalsError(
      .projectionFailed,
      "the projection \"\(name)\" failed \(doing): \(error). The store is as it was; "
        + "fix the projection and read it again",
      .thrown(error))
  }

  /// The error of a change of the schema that the program's progress function has stopped.
  static func stopped(_ error: any Error) -> AnnalsError {
    AnnalsError(
      .cancelled, "the change of the schema was stopped: \(error). Nothing of it was recorded",
      .thrown(error))
  }

  /// The error for a migration that could not be made. What is wrong with the disk, the lock or the
  /// store keeps its code.
  package static func migration(_ name: String, _ error: any Error) -> AnnalsError {
    let known = error as? AnnalsError
    let text = "the migration \"\(name)\" failed: \(known?.message ?? "\(error)")"
    if let known, !known.isOfChange {
      var result = known
      result.message = text
      return result
    }
    return AnnalsError(
      .migrationFailed,
      text + (text.hasSuffix("?") ? "" : ".")
        + " Nothing of it was recorded; correct it, and open the store again",
      .thrown(error))
  }

  /// Whether it says that a change was wrong, or could not be made of what the store has, rather
  /// than that the store cannot be written.
  private var isOfChange: Bool {
    switch code {
    case .invalidSchema, .invalidChange, .unreadableRecord, .erased, .noSuchObject, .conflict,
      .invalidArgument, .invalidInput, .tooLarge, .unsupported, .lost, .pruned, .nestedWrite,
      .projectionFailed:
      true
    default: false
    }
  }

  /// The names of the consumers that have not read what was to be dropped; for code `blocked`.
  public var blockers: [String] {
    if case .blockers(let names) = details { names } else { [] }
  }

  /// The error for a prune that must wait for consumers: their names, and one line of detail for
  /// each.
  package static func blocked(_ names: [String], _ lines: [String], floor: Int64) -> AnnalsError {
    AnnalsError(
      .blocked,
      "transactions before \(floor) cannot be dropped yet, for consumers have not seen them; "
        + "nothing was changed. Let them read on, remove them, or force it:" + list(lines),
      .blockers(names))
  }
}

extension AnnalsError {
  /// The error for an impossible schema.
  package static func invalidSchema(_ conflicts: [SchemaConflict]) -> AnnalsError {
    AnnalsError(
      .invalidSchema,
      "the schema cannot be used; nothing was changed:" + list(conflicts.map(\.description)),
      .schema(conflicts))
  }

  /// The error for an impossible schema.
  package static func invalidSchema(_ error: SchemaError) -> AnnalsError {
    invalidSchema(error.conflicts)
  }

  /// The error for changes that break rules.
  package static func invalidChange(_ violations: [ValidationViolation]) -> AnnalsError {
    AnnalsError(
      .invalidChange,
      "the changes break rules of the schema; nothing was recorded:"
        + list(violations.map(\.description)),
      .violations(violations))
  }

  /// The error for a position before the base; `oldest` is the base's timestamp.
  package static func pruned(_ gap: HistoryGap, oldest: Timestamp? = nil) -> AnnalsError {
    let base = gap.oldestValid.number
    var text = "(floor is \(base + 1)"
    if let prunedAt = gap.prunedMoment { text += "; pruned \(prunedAt.dayText)" }
    if let prunedBy = gap.prunedBy, !prunedBy.isEmpty { text += " by \(prunedBy)" }
    text += "). Oldest readable state: \(base)"
    if let oldest { text += ", of \(oldest)" }
    if let number = gap.requested {
      text =
        number < 0 || number == 0 && base == 0
        ? "there is no transaction \(number); the first is 1"
        : "transaction \(number) was pruned \(text)"
    } else if let moment = gap.requestedMoment {
      text = "there is no history as of \(moment) \(text)"
    }
    return AnnalsError(.pruned, text, .gap(gap))
  }

  /// The error for a transaction that damage destroyed.
  package static func lost(_ number: Int64, _ lost: LostTransactions) -> AnnalsError {
    AnnalsError(
      .lost,
      "transaction \(number) is lost: \(lost) \(lost.first == lost.last ? "was" : "were") "
        + "destroyed by damage (the store was salvaged \(lost.salvaged.dayText)). Readable states "
        + "nearest: \(lost.first - 1) and \(lost.last + 1)",
      .lost(lost))
  }

  /// The error for a token of another store.
  package static func otherStore(token: Token, store: RawUUID) -> AnnalsError {
    AnnalsError(
      .otherStore,
      "the token \(token) belongs to store \(token.store), this is store \(store). "
        + "Start from the beginning, or use the file that the token came from")
  }

  /// The error for a token whose transaction number another opening has used.
  package static func lostBranch(token: Token, lastShared: Token?) -> AnnalsError {
    let shared = lastShared.map { "The last transaction in common is \($0.number)" }
    return AnnalsError(
      .lostBranch,
      "transaction \(token.number) is not the one that the token knew: its history was lost in a "
        + "power failure, or the file was restored from a copy. "
        + (shared ?? "Start from the beginning"),
      .lastShared(lastShared))
  }

  /// The error for a position after the head.
  package static func beyondHead(_ number: Int64, head: Int64) -> AnnalsError {
    AnnalsError(
      .beyondHead,
      "there is no transaction \(number) yet: the newest is \(head)")
  }

  /// The error for something that changed meanwhile.
  package static func conflict(
    _ message: String, _ conflicts: [PropertyConflict] = []
  ) -> AnnalsError {
    let text = conflicts.isEmpty ? message : message + ":" + list(conflicts.map(\.description))
    return AnnalsError(.conflict, text, .conflicts(conflicts))
  }

  /// One line as it is; several lines one below the other, at most twenty.
  private static func list(_ lines: [String]) -> String {
    let limit = 20
    guard lines.count > 1 else { return " " + (lines.first ?? "") }
    var text = lines.prefix(limit).map { "\n  " + $0 }.joined()
    if lines.count > limit { text += "\n  … \(lines.count - limit) more" }
    return text
  }
}

/// The history that a pruned store no longer has.
public struct HistoryGap: Hashable, Sendable {
  /// The transaction number asked for; nil if a date was asked for.
  public package(set) var requested: Int64?
  /// The moment asked for; nil if a number or a token was asked for.
  package var requestedMoment: Timestamp?
  /// The oldest position that can be read: the base.
  public package(set) var oldestValid: Token
  /// When the history was pruned; nil if that is not known.
  package var prunedMoment: Timestamp?
  /// Who pruned it; nil if that is not known.
  public package(set) var prunedBy: String?

  /// Creates the description of a gap from its parts.
  package init(
    requested: Int64?, requestedMoment: Timestamp? = nil, oldestValid: Token,
    prunedAt: Timestamp?, prunedBy: String?
  ) {
    self.requested = requested
    self.requestedMoment = requestedMoment
    self.oldestValid = oldestValid
    prunedMoment = prunedAt
    self.prunedBy = prunedBy
  }
}

extension AnnalsError {
  /// Whether the history needed is not there any more.
  package var isMissingHistory: Bool {
    [.pruned, .lost, .lostBranch, .beyondHead].contains(code)
  }
}
