import Foundation

/// Generates posts with random values.
struct PostGenerator {
  /// The date of the oldest post, in microseconds since 1970.
  static let firstMoment: Int64 = 1_528_000_000_000_000
  /// The number of days over which posts are spread.
  static let days = 30
  static let microsecondsOfDay: Int64 = 86_400_000_000
  private static let urlStart = Array("https://photos.example.com/2018/06/".utf8)
  private static let urlLength = 47
  private static let urlAlphabet = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

  var random: Random
  private let cities: [(latitude: Double, longitude: Double)]

  init(seed: UInt64) {
    random = Random(seed: seed)
    var placing = Random(seed: 77)
    cities = (0..<20).map { _ in
      let latitude = placing.unit() * 120 - 55
      return (latitude, placing.unit() * 340 - 170)
    }
  }

  mutating func post() -> WorkloadPost {
    let identifier = self.identifier()
    let timestamp = moment()
    let title = random.below(Vocabulary.titles.count)
    let url = self.url()
    let source = random.below(Vocabulary.sources.count)
    let posted = Int16(random.below(5))
    let place = self.place()
    return WorkloadPost(
      identifier: identifier, timestamp: timestamp, title: title, url: url, source: source,
      posted: posted, latitude: place.latitude, longitude: place.longitude)
  }

  private mutating func identifier() -> UUID {
    let halves = [random.next(), random.next()]
    var bytes = halves.flatMap { half in
      (0..<8).map { UInt8(truncatingIfNeeded: half >> (8 * UInt64($0))) }
    }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  private mutating func moment() -> Int64 {
    let span = Double(Int64(Self.days) * Self.microsecondsOfDay)
    return Self.firstMoment + Int64(random.unit() * span)
  }

  private mutating func url() -> String {
    var bytes = Self.urlStart
    while bytes.count < Self.urlLength {
      bytes.append(Self.urlAlphabet[random.below(Self.urlAlphabet.count)])
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private mutating func place() -> (latitude: Double, longitude: Double) {
    guard random.below(10) < 7 else {
      let latitude = random.unit() * 180 - 90
      return (latitude, random.unit() * 360 - 180)
    }
    let city = cities[random.below(cities.count)]
    let latitude = city.latitude + random.normal() * 0.2
    return (latitude, city.longitude + random.normal() * 0.2)
  }
}
