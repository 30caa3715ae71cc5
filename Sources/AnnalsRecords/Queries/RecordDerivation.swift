import AnnalsEngine
import AnnalsFormat
import AnnalsModel
import AnnalsState
import Foundation

/// How the store computes a property of a record: `Property("eventCount",
/// \.eventCount).derived(.count(\.events))`.
public struct RecordDerivation<R: Record, V: AttributeValue>: Sendable {
  /// By names; evaluated late, since two entities may refer to each other.
  let derivation: @Sendable () -> Derivation
  /// What it is of no objects; nil for null.
  var valueOfNone: Value?

  private init(_ valueOfNone: Value? = nil, _ derivation: @escaping @Sendable () -> Derivation) {
    self.derivation = derivation
    self.valueOfNone = valueOfNone
  }

  private static func over<S: Record, P>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable,
    _ value: any KeyPath<S, P> & Sendable,
    _ make: @escaping @Sendable (String, String) -> Derivation, ofNone valueOfNone: Value? = nil
  ) -> Self {
    Self(valueOfNone) {
      make(R.entity.propertyName(of: list), S.entity.propertyName(of: value))
    }
  }

  private static func over<S: Record, P>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable,
    _ value: any KeyPath<S, P> & Sendable,
    _ make: @escaping @Sendable (String, String) -> Derivation, ofNone valueOfNone: Value? = nil
  ) -> Self {
    Self(valueOfNone) {
      make(R.self[keyPath: inverse].pathName, S.entity.propertyName(of: value))
    }
  }
}

extension RecordDerivation where V.Required: BinaryInteger {
  /// How many objects a to-many relationship has. Deleted ones do not count; one that it has twice
  /// counts twice.
  public static func count<S: Record>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable
  ) -> RecordDerivation {
    RecordDerivation(.int(0)) { .count(R.entity.propertyName(of: list)) }
  }

  /// How many objects a to-many relationship of ids has.
  public static func count(
    _ list: any KeyPath<R, [ObjectID]> & Sendable
  ) -> RecordDerivation {
    RecordDerivation(.int(0)) { .count(R.entity.propertyName(of: list)) }
  }

  /// How many objects refer to this one.
  public static func count<S: Record>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable
  ) -> RecordDerivation {
    RecordDerivation(.int(0)) { .count(R.self[keyPath: inverse].pathName) }
  }

  /// The sum of a property of the objects in a to-many relationship; 0 for none.
  ///
  /// A commit throws `.tooLarge` if it is beyond the integers of 64 bits.
  public static func sum<S: Record, P: AttributeValue>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required: BinaryInteger {
    over(list, value, Derivation.sum, ofNone: .int(0))
  }

  /// The sum of a property of the objects that refer to this one; 0 for none.
  public static func sum<S: Record, P: AttributeValue>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required: BinaryInteger {
    over(inverse, value, Derivation.sum, ofNone: .int(0))
  }
}

extension RecordDerivation where V.Required: BinaryFloatingPoint {
  /// The sum of a property of the objects in a to-many relationship; 0 for none.
  public static func sum<S: Record, P: AttributeValue>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required: BinaryFloatingPoint {
    over(list, value, Derivation.sum, ofNone: .double(0))
  }

  /// The sum of a property of the objects that refer to this one; 0 for none.
  public static func sum<S: Record, P: AttributeValue>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required: BinaryFloatingPoint {
    over(inverse, value, Derivation.sum, ofNone: .double(0))
  }
}

extension RecordDerivation where V.Required == Decimal {
  /// The exact sum of decimals of the objects in a to-many relationship; 0 for none.
  ///
  /// A commit throws `.tooLarge` if it has more than 38 digits.
  public static func sum<S: Record, P: AttributeValue>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required == Decimal {
    over(list, value, Derivation.sum, ofNone: .decimal(RawDecimal.zero))
  }

  /// The exact sum of decimals of the objects that refer to this one; 0 for none.
  public static func sum<S: Record, P: AttributeValue>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required == Decimal {
    over(inverse, value, Derivation.sum, ofNone: .decimal(RawDecimal.zero))
  }
}

extension RecordDerivation where V == Double? {
  /// The mean of a property of the objects in a to-many relationship; nil for none, so the property
  /// is an optional.
  public static func average<S: Record, P: AttributeValue>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required: BinaryInteger {
    over(list, value, Derivation.average)
  }

  /// The mean of a property of the objects that refer to this one; nil for none.
  public static func average<S: Record, P: AttributeValue>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required: BinaryInteger {
    over(inverse, value, Derivation.average)
  }

  /// The mean of a property of the objects in a to-many relationship; nil for none, so the property
  /// is an optional.
  public static func average<S: Record, P: AttributeValue>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required: BinaryFloatingPoint {
    over(list, value, Derivation.average)
  }

  /// The mean of a property of the objects that refer to this one; nil for none.
  public static func average<S: Record, P: AttributeValue>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required: BinaryFloatingPoint {
    over(inverse, value, Derivation.average)
  }
}

extension RecordDerivation where V == Decimal? {
  /// The mean of decimals of the objects in a to-many relationship, rounded to 38 digits; nil for
  /// none, so the property is an optional.
  public static func average<S: Record, P: AttributeValue>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required == Decimal {
    over(list, value, Derivation.average)
  }

  /// The mean of decimals of the objects that refer to this one, rounded to 38 digits; nil for
  /// none.
  public static func average<S: Record, P: AttributeValue>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where P.Required == Decimal {
    over(inverse, value, Derivation.average)
  }
}

extension RecordDerivation {
  /// The least value of a property of the objects in a to-many relationship, of numbers, dates or
  /// days; nil for none, so the property is an optional.
  public static func min<S: Record, P: AttributeValue>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where V == P.Required?, P.Required: Comparable {
    over(list, value, Derivation.minimum)
  }

  /// The least value of a property of the objects that refer to this one; nil for none.
  public static func min<S: Record, P: AttributeValue>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where V == P.Required?, P.Required: Comparable {
    over(inverse, value, Derivation.minimum)
  }

  /// The greatest value of a property of the objects in a to-many relationship; nil for none.
  public static func max<S: Record, P: AttributeValue>(
    _ list: any KeyPath<R, [Reference<S>]> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where V == P.Required?, P.Required: Comparable {
    over(list, value, Derivation.maximum)
  }

  /// The greatest value of a property of the objects that refer to this one; nil for none.
  public static func max<S: Record, P: AttributeValue>(
    _ inverse: any KeyPath<R.Type, Inverse<S, R>> & Sendable, _ value: any KeyPath<S, P> & Sendable
  ) -> RecordDerivation where V == P.Required?, P.Required: Comparable {
    over(inverse, value, Derivation.maximum)
  }
}

extension RecordDerivation where V.Required == String {
  /// A text without case and accents: "Äste" as "aste". An index of it serves searches that ignore
  /// both, by `normalizedForSearch` of what is searched; if it is unique, so are the texts without
  /// them.
  public static func normalized(
    _ text: any KeyPath<R, V> & Sendable
  ) -> RecordDerivation {
    RecordDerivation { .normalized(R.entity.propertyName(of: text)) }
  }
}

extension String {
  /// The text without case and accents, as `.derived(.normalized(\.title))` stores it.
  public var normalizedForSearch: String {
    Value.normalized(self, removingDiacritics: String.removingDiacritics)
  }
}
