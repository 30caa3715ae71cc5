import AnnalsEngine
import AnnalsModel
import Foundation

// Conversions between the model's types and Foundation's.

extension Timestamp {
  /// Seconds from 1970 to 2001, the reference date of Foundation.
  private static let referenceDate: Int64 = 978_307_200

  /// The moment, rounded to the nearest microsecond. Nil for dates more than 292,000 years away,
  /// which no Int64 of microseconds holds, and for dates that are not a number.
  ///
  /// A date within 142 years of 2001 that came from a timestamp gives the same timestamp again.
  package init?(exactly date: Date) {
    let microseconds = (date.timeIntervalSinceReferenceDate * 1_000_000).rounded()
    guard let sinceReference = Int64(exactly: microseconds) else { return nil }
    let (sum, overflow) = sinceReference.addingReportingOverflow(
      Timestamp.referenceDate * 1_000_000)
    guard !overflow else { return nil }
    self.init(microseconds: sum)
  }

  /// The moment, rounded to the nearest microsecond. Dates out of range become the earliest or
  /// latest moment; a date that is not a number becomes 1970.
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
  /// The moment as a Foundation date.
  public init(_ timestamp: Timestamp) {
    // Counted from 2001 directly: going through 1970 would round twice and lose microseconds.
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

extension RawDecimal {
  /// The same number; nil for one that is not a number, or has more than 38 digits.
  package init?(_ decimal: Decimal) {
    guard !decimal.isNaN else { return nil }
    self.init(decimal.description)
  }
}

extension Decimal {
  /// The same number.
  public init(_ raw: RawDecimal) {
    var (digits, place) = (raw.significand.magnitude, raw.exponent)
    // A last digit further in front has zeros behind it.
    while place > 127 {
      digits *= 10
      place -= 1
    }
    let half: UInt128 = 10_000_000_000_000_000_000
    var whole = Decimal(UInt64(digits % half))
    if digits >= half {
      let high = Decimal(sign: .plus, exponent: 19, significand: Decimal(UInt64(digits / half)))
      whole += high
    }
    self.init(
      sign: raw.significand < 0 ? .minus : .plus, exponent: place, significand: whole)
  }
}

extension Value {
  /// A date, rounded to the microsecond. One that is infinite, not a number or out of range becomes
  /// a number, which no attribute of type date takes.
  public static func date(_ date: Date) -> Value {
    Timestamp(exactly: date).map { .date($0) } ?? .double(date.timeIntervalSinceReferenceDate)
  }

  /// An exact decimal number. One that is not a number, or has more than 38 digits, becomes a
  /// double, which no attribute of type decimal takes.
  public static func decimal(_ number: Decimal) -> Value {
    RawDecimal(number).map { .decimal($0) } ?? .double(number.isNaN ? .nan : .infinity)
  }

  /// A UUID.
  public static func uuid(_ uuid: UUID) -> Value { .uuid(RawUUID(uuid)) }

  /// A URL.
  public static func url(_ url: URL) -> Value { .url(url.absoluteString) }

  /// Bytes.
  public static func data(_ data: Data) -> Value { .data(Array(data)) }

  /// This value as typed code reads it: as a Bool, integer, double, text, date, day, decimal, UUID,
  /// URL or data.
  /// Nil if the value is of another kind or does not fit.
  public func `as`<T: AttributeValue>(_ type: T.Type) -> T? {
    if case .large = self { return nil }
    return decoded(as: type)
  }

  /// The attribute's value as a property of this type reads it; nil if it does not fit the type.
  func decoded<V: AttributeValue>(as type: V.Type) -> V? {
    var arena: ContiguousArray<UInt8> = []
    let cell = ValueCell(self, appendingTo: &arena)
    return arena.withUnsafeBytes { V._read(StoredCell(cell, in: $0)) }
  }

  /// The stored form of a typed value; null for nil.
  public init(_ value: some AttributeValue) {
    var result = Value.null
    value._withCell { result = $0.cell.value(in: $0.arena) }
    self = result
  }
}

extension Token {
  /// The UUID of the token's store.
  public var storeID: UUID { UUID(store) }
}

extension ObjectID {
  /// The UUID of the object's store.
  public var storeID: UUID { UUID(store) }
}

extension HistoryGap {
  /// The date asked for; nil if a number or a token was asked for.
  public var requestedDate: Date? { requestedMoment.map { Date($0) } }
  /// When the history was pruned; nil if that is not known.
  public var prunedAt: Date? { prunedMoment.map { Date($0) } }
}

extension LostTransactions {
  /// The greatest timestamp before the lost transactions; they were made at or after it.
  public var earliest: Date { Date(after) }
  /// The timestamp of the transaction after them; nil if none is left.
  public var latest: Date? { before.map { Date($0) } }
  /// When the store was salvaged.
  public var salvagedAt: Date { Date(salvaged) }
}

// Literals, for the untyped form: `tx.insert("Post", ["title": "Fog", "rating": 3])`.

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  /// A text.
  public init(stringLiteral text: String) { self = .string(text) }

  /// An integer.
  public init(integerLiteral number: Int64) { self = .int(number) }

  /// A floating-point number.
  public init(floatLiteral number: Double) { self = .double(number) }

  /// A Bool.
  public init(booleanLiteral isTrue: Bool) { self = .bool(isTrue) }

  /// Null.
  public init(nilLiteral: ()) { self = .null }
}

extension String {
  /// Removes the accents of a text; the engine, which knows no Foundation, is given this.
  package static let removingDiacritics: @Sendable (String) -> String = {
    $0.folding(options: .diacriticInsensitive, locale: nil)
  }
}
