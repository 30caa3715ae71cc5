import AnnalsModel
import Foundation

// Between the model's own types and Foundation's.

extension Timestamp {
  /// Seconds from 1970 to 2001, where Foundation's dates count from.
  private static let referenceDate: Int64 = 978_307_200

  /// The moment, rounded to the nearest microsecond; nil for dates that no Int64 of microseconds
  /// can hold (more than 292,000 years away) and for those that are not a number.
  ///
  /// A date within 142 years of 2001 that came from a timestamp gives that timestamp again.
  package init?(exactly date: Date) {
    let microseconds = (date.timeIntervalSinceReferenceDate * 1_000_000).rounded()
    guard let sinceReference = Int64(exactly: microseconds) else { return nil }
    let (sum, overflow) = sinceReference.addingReportingOverflow(
      Timestamp.referenceDate * 1_000_000)
    guard !overflow else { return nil }
    self.init(microseconds: sum)
  }

  /// The moment, rounded to the nearest microsecond; dates beyond what can be held become the
  /// earliest or latest moment, and one that is not a number becomes 1970.
  package init(_ date: Date) {
    if let exact = Timestamp(exactly: date) {
      self = exact
    } else {
      let interval = date.timeIntervalSinceReferenceDate
      self.init(microseconds: interval.isNaN ? 0 : interval < 0 ? .min : .max)
    }
  }
}

extension Date {
  /// The moment as Foundation holds it.
  public init(_ timestamp: Timestamp) {
    // Counted from 2001 at once: through 1970 a second rounding would lose microseconds.
    let (sinceReference, overflow) = timestamp.microseconds.subtractingReportingOverflow(
      978_307_200_000_000)
    let microseconds = overflow ? Double(timestamp.microseconds) : Double(sinceReference)
    self.init(timeIntervalSinceReferenceDate: microseconds / 1_000_000)
  }
}

extension RawUUID {
  /// The same sixteen bytes.
  package init(_ uuid: UUID) {
    self = withUnsafeBytes(of: uuid.uuid) { RawUUID(bytes: $0) }
  }
}

extension UUID {
  /// The same sixteen bytes.
  public init(_ raw: RawUUID) {
    let halves = (raw.high.bigEndian, raw.low.bigEndian)
    self.init(uuid: withUnsafeBytes(of: halves) { $0.loadUnaligned(as: uuid_t.self) })
  }
}

extension Value {
  /// A moment, rounded to the microsecond.
  public static func date(_ date: Date) -> Value { .date(Timestamp(date)) }

  /// A UUID.
  public static func uuid(_ uuid: UUID) -> Value { .uuid(RawUUID(uuid)) }

  /// A URL.
  public static func url(_ url: URL) -> Value { .url(url.absoluteString) }

  /// Bytes.
  public static func data(_ data: Data) -> Value { .data(Array(data)) }

  /// What typed code calls this value: the bool, whole number, double, text, date, UUID, URL or
  /// data as `type`; nil if the value is of another kind or does not fit.
  public func `as`<T: AttributeValue>(_ type: T.Type) -> T? {
    var arena: ContiguousArray<UInt8> = []
    let cell = ValueCell(self, appendingTo: &arena)
    guard !cell.isLarge else { return nil }
    return arena.withUnsafeBytes { T._read(StoredCell(cell, in: $0)) }
  }

  /// The value that is stored for one of typed code; null for nil.
  public init(_ value: some AttributeValue) {
    var result = Value.null
    value._withCell { result = $0.cell.value(in: $0.arena) }
    self = result
  }
}

extension Token {
  /// The UUID of the store that the position is in.
  public var storeID: UUID { UUID(store) }
}

extension ObjectID {
  /// The UUID of the store that the object lives in.
  public var storeID: UUID { UUID(store) }
}

extension HistoryGap {
  /// The date asked for; nil if it was a number or a token.
  public var requestedDate: Date? { requestedMoment.map { Date($0) } }
  /// When the history was pruned, where it is known.
  public var prunedAt: Date? { prunedMoment.map { Date($0) } }
}

extension LostTransactions {
  /// The greatest timestamp of the transactions before, at or after which these were made.
  public var earliest: Date { Date(after) }
  /// The timestamp of the transaction behind them; nil if none is left.
  public var latest: Date? { before.map { Date($0) } }
  /// When the store was salvaged.
  public var salvagedAt: Date { Date(salvaged) }
}

// Literals, for the untyped form: `tx.insert("Post", ["title": "Fog", "rating": 3])`.

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  /// Text.
  public init(stringLiteral text: String) { self = .string(text) }

  /// A whole number.
  public init(integerLiteral number: Int64) { self = .int(number) }

  /// A floating-point number.
  public init(floatLiteral number: Double) { self = .double(number) }

  /// True or false.
  public init(booleanLiteral isTrue: Bool) { self = .bool(isTrue) }

  /// No value.
  public init(nilLiteral: ()) { self = .null }
}
