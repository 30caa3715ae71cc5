import Foundation

/// A post as a program reads it, its texts as texts. The image is always missing.
public struct StoredPost: Sendable, Equatable {
  /// Identity.
  public var identifier: UUID
  /// Microseconds since 1970.
  public var timestamp: Int64
  /// The title.
  public var title: String
  /// The url.
  public var url: String
  /// The source.
  public var source: String
  /// From 0 to 4.
  public var posted: Int16
  /// Degrees north.
  public var latitude: Double
  /// Degrees east.
  public var longitude: Double

  /// A post with these values; without them, one of zeros and empty texts.
  public init(
    identifier: UUID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
    timestamp: Int64 = 0, title: String = "", url: String = "", source: String = "",
    posted: Int16 = 0, latitude: Double = 0, longitude: Double = 0
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

  /// A post of the workload, with its texts.
  public init(_ post: WorkloadPost) {
    self.init(
      identifier: post.identifier, timestamp: post.timestamp, title: post.titleText, url: post.url,
      source: post.sourceText, posted: post.posted, latitude: post.latitude,
      longitude: post.longitude)
  }

  /// The post as the workload has it; nil if its title or source is none of the workload's.
  public var workloadPost: WorkloadPost? {
    guard let titleIndex = Vocabulary.titles.firstIndex(of: title),
      let sourceIndex = Vocabulary.sources.firstIndex(of: source)
    else { return nil }
    return WorkloadPost(
      identifier: identifier, timestamp: timestamp, title: titleIndex, url: url,
      source: sourceIndex, posted: posted, latitude: latitude, longitude: longitude)
  }

  /// Takes over some of the values of another post.
  public mutating func copy(_ properties: PropertySet, from other: StoredPost) {
    if properties.contains(.identifier) { identifier = other.identifier }
    if properties.contains(.timestamp) { timestamp = other.timestamp }
    if properties.contains(.title) { title = other.title }
    if properties.contains(.url) { url = other.url }
    if properties.contains(.source) { source = other.source }
    if properties.contains(.posted) { posted = other.posted }
    if properties.contains(.latitude) { latitude = other.latitude }
    if properties.contains(.longitude) { longitude = other.longitude }
  }
}

/// A past state, as what differs in it from the newest: changes are undone, the newest first.
public struct PastOverlay: Sendable {
  /// An object that differs.
  public struct Difference: Sendable {
    /// The properties that differ; none of an object that did not exist.
    public fileprivate(set) var properties: PropertySet = []
    /// Whether the object exists in the past state, and not in the newest.
    public fileprivate(set) var isOnlyPast = false
    /// Whether the object exists in the newest state, and not in the past one.
    public fileprivate(set) var isOnlyNew = false
    /// The values of those properties.
    public fileprivate(set) var post = StoredPost()
  }

  /// The differences, by the number of the object.
  public private(set) var objects: [Int: Difference] = [:]

  /// No differences.
  public init() {}

  /// Undoes a change: the values before of these properties; none for an insert.
  public mutating func undo(
    _ kind: Workload.Kind, of object: Int, _ properties: PropertySet, _ before: StoredPost
  ) {
    switch kind {
    case .insert:
      if objects[object]?.isOnlyPast == true {
        objects[object] = nil
      } else {
        objects[object, default: Difference()].isOnlyNew = true
      }
    case .delete:
      objects[object, default: Difference()].isOnlyPast = true
      objects[object]?.properties = .ofNewPost
      objects[object]?.post = before
    case .update:
      objects[object, default: Difference()].properties.formUnion(properties)
      objects[object]?.post.copy(properties, from: before)
    }
  }

  /// The numbers of the objects that the newest state lacks, rising.
  public var onlyPast: [Int] { objects.filter(\.value.isOnlyPast).map(\.key).sorted() }

  /// A post of the newest state as it was; nil if it did not exist.
  public func past(_ object: Int, _ post: StoredPost) -> StoredPost? {
    guard let difference = objects[object] else { return post }
    if difference.isOnlyNew { return nil }
    var past = post
    past.copy(difference.properties, from: difference.post)
    return past
  }

  /// Compares a whole past state with what is expected. `found` has the objects of the newest state
  /// as they were, in the order of their numbers; those that it lacks are added here.
  ///
  /// Throws what differs.
  public func check(
    _ what: String, _ found: some Sequence<(object: Int, post: StoredPost)>,
    against model: WorkloadModel
  ) throws {
    let lacking = onlyPast.compactMap { object in objects[object].map { (object, $0.post) } }
    var digest = StateDigest()
    for (object, post) in (Array(found) + lacking).sorted(by: { $0.0 < $1.0 }) {
      guard let post = post.workloadPost else { throw WrongState("\(what): no post of ours") }
      digest.add(object: object, post)
    }
    guard digest.count == model.liveCount, digest.value == model.checksum else {
      throw WrongState("\(what): \(digest.count) objects, expected \(model.liveCount)")
    }
  }
}

/// A state that is not the one expected.
public struct WrongState: Error, CustomStringConvertible {
  /// What differs.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
