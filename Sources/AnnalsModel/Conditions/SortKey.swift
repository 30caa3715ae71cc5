/// One key of an order: a value of each object, and its direction.
///
/// Objects that are equal in all keys come in id order, in the last key's direction.
public struct SortKey: Hashable, Sendable {
  /// The path of the value.
  public var path: PropertyPath
  /// Whether greater values come first.
  public var isDescending: Bool
  /// Where objects without a value come.
  public var nils: NilPlace
  /// How texts are compared.
  public var textOrder: TextOrder
  /// Values that come before all others, in this order and whatever the direction; null only if it
  /// is among them. Empty for none.
  package var order: [Value] = []

  /// Creates a key over the value at this path: by default ascending, nil first, texts by their
  /// bytes.
  public init(
    _ path: PropertyPath, isDescending: Bool = false, nils: NilPlace = .byDirection,
    textOrder: TextOrder = .binary
  ) {
    self.path = path
    self.isDescending = isDescending
    self.nils = nils
    self.textOrder = textOrder
  }

  /// A key with smaller values first.
  public static func ascending(
    _ path: PropertyPath, nils: NilPlace = .byDirection, textOrder: TextOrder = .binary
  ) -> SortKey {
    SortKey(path, nils: nils, textOrder: textOrder)
  }

  /// A key with greater values first.
  public static func descending(
    _ path: PropertyPath, nils: NilPlace = .byDirection, textOrder: TextOrder = .binary
  ) -> SortKey {
    SortKey(path, isDescending: true, nils: nils, textOrder: textOrder)
  }

  /// Whether objects without a value come before the others.
  public var areNilsFirst: Bool {
    switch nils {
    case .byDirection: !isDescending
    case .first: true
    case .last: false
    }
  }
}

extension SortKey {
  /// Where objects without a value come in an order.
  public enum NilPlace: Hashable, Sendable {
    /// First if ascending, last if descending.
    case byDirection
    case first
    case last
  }

  /// How texts are compared in an order. Indexes only store the order by bytes.
  public struct TextOrder: Hashable, Sendable {
    package enum Base: Hashable, Sendable {
      case binary
      case caseInsensitive
      /// By the rules of a locale; nil for the current one.
      case localized(String?)
    }

    package let base: Base

    private init(_ base: Base) {
      self.base = base
    }

    /// By UTF-8 bytes.
    public static let binary = TextOrder(.binary)
    /// By UTF-8 bytes, ignoring case.
    public static let caseInsensitive = TextOrder(.caseInsensitive)
    /// As a reader in the current locale expects.
    public static let localized = TextOrder(.localized(nil))

    /// As a reader in this locale expects, such as `de_DE`.
    public static func localized(in locale: String) -> TextOrder { TextOrder(.localized(locale)) }
  }
}

extension SortKey: CustomStringConvertible {
  /// The key as text: `-timestamp`, `title[c]`, `title[l] NILS LAST`, `title[l:de_DE]`.
  public var description: String {
    var text = (isDescending ? "-" : "") + path.description
    switch textOrder.base {
    case .binary: break
    case .caseInsensitive: text += "[c]"
    case .localized(nil): text += "[l]"
    case .localized(let locale?): text += "[l:\(locale)]"
    }
    if !order.isEmpty { text += " FROM \(order.map(\.conditionText).joined(separator: ", "))" }
    switch nils {
    case .byDirection: return text
    case .first: return text + " NILS FIRST"
    case .last: return text + " NILS LAST"
    }
  }
}
