import AnnalsModel
import Foundation

/// A comparison of a record's property with a constant in a predicate.
///
/// Accepts only values whose equality and order are the same in Swift and in a store: truth values,
/// integers, UUIDs, doubles except zero (which has two forms) and NaN, decimals, dates, days, texts
/// that no other text equals in Swift, enums with such raw values, and the object that a
/// relationship leads to.
struct ComparedProperty<R: Record> {
  private let property: PropertyDefinition
  private let constant: Any?
  /// Whether the constant comes before the property.
  private var isFlipped = false

  init(_ property: PropertyDefinition, _ constant: Any?) {
    self.property = property
    self.constant = constant
  }

  /// Nil unless one side is a property and the other a constant.
  init?(_ left: Any, _ right: Any, of type: R.Type) {
    if let property = (left as? any PropertyTerm)?.property(of: type),
      let other = right as? any ConstantTerm
    {
      self.init(property, other.constant)
    } else if let property = (right as? any PropertyTerm)?.property(of: type),
      let other = left as? any ConstantTerm
    {
      self.init(property, other.constant)
      isFlipped = true
    } else {
      return nil
    }
  }

  /// Whether a store compares the property's values as Swift does.
  private var isPlain: Bool {
    if let relationship = property.relationship { return !relationship.isToMany }
    switch property.attribute.type {
    case .bool, .int16, .int32, .int64, .double, .date, .uuid, .string, .decimal, .day: return true
    default: return false
    }
  }

  private var path: PropertyPath { PropertyPath(property.name) }

  /// The condition that both are equal; nil if a store may decide it differently from Swift.
  var isEqual: RecordCondition<R>? {
    guard isPlain, let operand = Operand(constant) else { return nil }
    switch operand {
    case .null: return RecordCondition(.isNil(path))
    case .value(let value): return RecordCondition(.compare(path, .equal, value))
    case .object(let id):
      let value = Value.object(ObjectReference(id))
      return RecordCondition(.compare(path, .equal, value), stores: [id.store])
    case .between: return .never
    }
  }

  /// The condition that the sides compare this way; nil if a store may decide it differently from
  /// Swift.
  func compares(_ comparison: Condition.Comparison) -> RecordCondition<R>? {
    guard isPlain, let operand = Operand(constant) else { return nil }
    let wanted = isFlipped ? comparison.flipped : comparison
    switch operand {
    case .null, .object: return nil
    case .value(let value):
      guard value.hasSwiftOrder else { return nil }
      return RecordCondition(.compare(path, wanted, value))
    case .between(let below, let above):
      // No property lies between the two.
      switch wanted {
      case .less, .lessOrEqual: return RecordCondition(.compare(path, .lessOrEqual, below))
      case .greater, .greaterOrEqual: return RecordCondition(.compare(path, .greaterOrEqual, above))
      default: return nil
      }
    }
  }
}

/// A constant in stored form.
private enum Operand {
  case null
  case value(Value)
  case object(ObjectID)
  /// A moment between two that a store can hold.
  case between(Value, Value)

  /// Nil for values that a store and Swift may compare differently.
  init?(_ constant: Any?) {
    guard let constant, let value = Operand.unwrapped(constant) else {
      self = .null
      return
    }
    switch value {
    case let flag as Bool: self = .value(.bool(flag))
    case let number as any FixedWidthInteger:
      guard let number = Int64(exactly: number) else { return nil }
      self = .value(.int(number))
    case let number as Double:
      guard number.isFinite, number != 0 else { return nil }
      self = .value(.double(number))
    case let number as Decimal:
      guard let number = RawDecimal(number) else { return nil }
      self = .value(.decimal(number))
    case let day as CalendarDay: self = .value(.day(day))
    case let id as UUID: self = .value(.uuid(id))
    case let text as String:
      guard text.isAloneInSwift else { return nil }
      self = .value(.string(text))
    case let date as Date: self.init(date)
    case let reference as any RelationshipValue:
      guard let id = reference._objects.first else { return nil }
      self = .object(id)
    case let choice as any RawRepresentable: self.init(choice.rawValue)
    default: return nil
    }
  }

  private init?(_ date: Date) {
    // Within 68 years around 2001 a `Date` distinguishes every microsecond.
    guard abs(date.timeIntervalSinceReferenceDate) < 0x7FFF_FFFF else { return nil }
    let rounded = Timestamp(date)
    let back = Date(rounded)
    if back == date {
      self = .value(.date(rounded))
    } else {
      let below = back < date ? rounded.microseconds : rounded.microseconds - 1
      self = .between(
        .date(Timestamp(microseconds: below)), .date(Timestamp(microseconds: below + 1)))
    }
  }

  /// The content of an optional; nil if it is nil.
  private static func unwrapped(_ value: Any) -> Any? {
    guard let optional = value as? any OptionalValue else { return value }
    return optional.wrappedValue.flatMap { unwrapped($0) }
  }
}

/// An optional of any type.
private protocol OptionalValue {
  var wrappedValue: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var wrappedValue: Any? { self }
}

extension Condition.Comparison {
  /// The comparison of the same two values in the other order.
  fileprivate var flipped: Condition.Comparison {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: self
    }
  }
}

extension Value {
  /// Whether Swift orders values of this kind as a store does; not so for texts.
  fileprivate var hasSwiftOrder: Bool {
    switch self {
    case .int, .double, .date, .decimal, .day: true
    default: false
    }
  }
}

extension String {
  /// Whether no text with other bytes equals this one in Swift: plain ASCII, except three signs
  /// that a further Unicode scalar is equivalent to.
  fileprivate var isAloneInSwift: Bool {
    let doubled = [UInt8(ascii: "K"), UInt8(ascii: ";"), UInt8(ascii: "`")]
    return utf8.allSatisfy { $0 < 0x80 && !doubled.contains($0) }
  }
}
