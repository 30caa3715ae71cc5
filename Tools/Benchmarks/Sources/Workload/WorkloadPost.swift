import Foundation

/// The values of one post. The image is always missing.
public struct WorkloadPost: Sendable, Equatable {
  /// Identity: a UUID of version 4.
  public var identifier: UUID
  /// Microseconds since 1970.
  public var timestamp: Int64
  /// The index of the title in `Vocabulary.titles`.
  public var title: Int
  /// 47 characters.
  public var url: String
  /// The index of the source in `Vocabulary.sources`.
  public var source: Int
  /// From 0 to 4.
  public var posted: Int16
  /// Full precision; 70% lie around 20 cities.
  public var latitude: Double
  /// As the latitude.
  public var longitude: Double

  /// The post of these values.
  public init(
    identifier: UUID, timestamp: Int64, title: Int, url: String, source: Int, posted: Int16,
    latitude: Double, longitude: Double
  ) {
    self.identifier = identifier
    self.timestamp = timestamp
    self.title = title
    self.url = url
    self.source = source
    self.posted = posted
    self.latitude = latitude
    self.longitude = longitude
  }

  /// The title itself.
  public var titleText: String { Vocabulary.titles[title] }
  /// The source itself.
  public var sourceText: String { Vocabulary.sources[source] }
}

/// The properties of a post, in the order of their numbers.
public enum PostProperty: Int, CaseIterable, Sendable {
  case identifier
  case timestamp
  case title
  case url
  case source
  case image
  case posted
  case latitude
  case longitude
}

/// A set of properties.
public struct PropertySet: OptionSet, Sendable, Hashable {
  /// Bit n stands for the property of number n.
  public let rawValue: UInt16

  /// The set with these bits.
  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// The set of one property.
  public init(_ property: PostProperty) {
    rawValue = 1 << UInt16(property.rawValue)
  }

  /// All that a new post has: everything but the image.
  public static let ofNewPost = PropertySet(rawValue: 0x1FF).subtracting(PropertySet(.image))

  /// Whether the property is in the set.
  public func contains(_ property: PostProperty) -> Bool { contains(PropertySet(property)) }

  /// How many properties there are.
  public var count: Int { rawValue.nonzeroBitCount }
}

/// The texts for the numbers in posts and operations.
public enum Vocabulary {
  /// The titles.
  public static let titles = [
    "Sunset at the beach", "Coffee", "Morning run", "Concert night", "Family dinner",
    "New office", "Hiking trip", "Birthday party", "Street food", "WWDC keynote",
  ]
  /// The sources.
  public static let sources = (0..<64).map { number in
    "com.example.source" + (number < 10 ? "0" : "") + String(number)
  }
  /// The authors.
  public static let authors = ["app", "sync", "importer"]
  /// The contexts.
  public static let contexts = ["view", "background", "share-extension", "editor"]
}
