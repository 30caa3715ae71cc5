import Annals
import Foundation
import Workload

/// A post as a program would declare it.
///
/// As in the programs it is compared with, urls are texts, and the identifier is not a key.
struct PostRecord: Record {
  var identifier: UUID
  var timestamp: Date
  var title: String?
  var url: String?
  var source: String?
  var image: Data?
  var posted: Int16?
  var latitude: Double?
  var longitude: Double?

  static let entity = RecordEntity(
    "Post", PostRecord.init,
    Property("identifier", \.identifier).preservedAfterDeletion(),
    Property("timestamp", \.timestamp).indexed(.descending),
    Property("title", \.title).displayName(),
    Property("url", \.url),
    Property("source", \.source),
    Property("image", \.image),
    Property("posted", \.posted),
    Property("latitude", \.latitude),
    Property("longitude", \.longitude))
}

extension PostRecord {
  /// The record of a post of the workload.
  init(_ post: WorkloadPost) {
    self.init(
      identifier: post.identifier, timestamp: Date(microseconds: post.timestamp),
      title: post.titleText, url: post.url, source: post.sourceText, image: nil,
      posted: post.posted, latitude: post.latitude, longitude: post.longitude)
  }

  /// Copies some of a post's values.
  mutating func copy(_ properties: PropertySet, from post: WorkloadPost) {
    if properties.contains(.timestamp) { timestamp = Date(microseconds: post.timestamp) }
    if properties.contains(.title) { title = post.titleText }
    if properties.contains(.url) { url = post.url }
    if properties.contains(.source) { source = post.sourceText }
    if properties.contains(.posted) { posted = post.posted }
    if properties.contains(.latitude) { latitude = post.latitude }
    if properties.contains(.longitude) { longitude = post.longitude }
  }

  /// Sets some of a post's values, one by one.
  static func set(
    _ properties: PropertySet, of id: ObjectID, from post: WorkloadPost, _ tx: WriteTransaction
  ) throws {
    if properties.contains(.timestamp) {
      try tx.set(\PostRecord.timestamp, of: id, to: Date(microseconds: post.timestamp))
    }
    if properties.contains(.title) {
      try tx.set(\PostRecord.title, of: id, to: post.titleText)
    }
    if properties.contains(.url) { try tx.set(\PostRecord.url, of: id, to: post.url) }
    if properties.contains(.source) {
      try tx.set(\PostRecord.source, of: id, to: post.sourceText)
    }
    if properties.contains(.posted) { try tx.set(\PostRecord.posted, of: id, to: post.posted) }
    if properties.contains(.latitude) {
      try tx.set(\PostRecord.latitude, of: id, to: post.latitude)
    }
    if properties.contains(.longitude) {
      try tx.set(\PostRecord.longitude, of: id, to: post.longitude)
    }
  }

  /// The record as a post of the workload; nil if it is not one.
  var workloadPost: WorkloadPost? {
    guard let title, let url, let source, let posted, let latitude, let longitude, image == nil,
      let titleIndex = Vocabulary.titles.firstIndex(of: title),
      let sourceIndex = Vocabulary.sources.firstIndex(of: source)
    else { return nil }
    return WorkloadPost(
      identifier: identifier, timestamp: timestamp.microseconds, title: titleIndex, url: url,
      source: sourceIndex, posted: posted, latitude: latitude, longitude: longitude)
  }
}

extension Date {
  /// The date this many microseconds after the beginning of 1970.
  init(microseconds: Int64) {
    self.init(timeIntervalSince1970: Double(microseconds) / 1e6)
  }

  /// The microseconds since the beginning of 1970.
  var microseconds: Int64 { Int64((timeIntervalSince1970 * 1e6).rounded()) }
}
