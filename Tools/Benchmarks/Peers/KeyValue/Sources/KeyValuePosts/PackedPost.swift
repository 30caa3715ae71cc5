import Foundation
import Workload

/// Bytes that are put together and used again for the next value.
struct PackedBytes: ~Copyable {
  private let base: UnsafeMutableRawPointer
  private(set) var count = 0

  /// Room for a change with the values before and after.
  private static let capacity = 2_048

  init() {
    base = .allocate(byteCount: Self.capacity, alignment: 8)
  }

  deinit { base.deallocate() }

  /// The bytes, until more are added.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  mutating func clear() { count = 0 }

  mutating func add<T: FixedWidthInteger>(_ number: T) {
    base.storeBytes(of: number, toByteOffset: count, as: T.self)
    count += MemoryLayout<T>.size
  }

  mutating func add(_ number: Double) { add(number.bitPattern) }

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    precondition(count + bytes.count <= Self.capacity)
    (base + count).copyMemory(from: start, byteCount: bytes.count)
    count += bytes.count
  }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      add(UInt8(bytes.count))
      add(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Adds some of a post's values, in the order of the properties. An image takes no bytes.
  mutating func add(_ properties: PropertySet, of post: WorkloadPost) {
    if properties.contains(.identifier) { withUnsafeBytes(of: post.identifier.uuid) { add($0) } }
    if properties.contains(.timestamp) { add(post.timestamp) }
    if properties.contains(.title) { add(post.titleText) }
    if properties.contains(.url) { add(post.url) }
    if properties.contains(.source) { add(post.sourceText) }
    if properties.contains(.posted) { add(post.posted) }
    if properties.contains(.latitude) { add(post.latitude) }
    if properties.contains(.longitude) { add(post.longitude) }
  }
}

/// Reads packed values, one property after the other.
struct PackedReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var offset: Int

  init(_ bytes: UnsafeRawBufferPointer, at offset: Int = 0) {
    self.bytes = bytes
    self.offset = offset
  }

  mutating func number<T: FixedWidthInteger>(_: T.Type) -> T {
    defer { offset += MemoryLayout<T>.size }
    return bytes.loadUnaligned(fromByteOffset: offset, as: T.self)
  }

  mutating func double() -> Double { Double(bitPattern: number(UInt64.self)) }

  /// The bytes of the next value, of this property.
  mutating func slice(of property: PostProperty) -> UnsafeRawBufferPointer {
    let start = offset
    switch property {
    case .identifier: offset += 16
    case .timestamp, .latitude, .longitude: offset += 8
    case .posted: offset += 2
    case .title, .url, .source: offset += 1 + Int(bytes[offset])
    case .image: break
    }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
  }

  /// Reads values into a post.
  mutating func read(_ properties: PropertySet, into post: inout StoredPost) {
    if properties.contains(.identifier) {
      post.identifier = UUID(uuid: bytes.loadUnaligned(fromByteOffset: offset, as: uuid_t.self))
      offset += 16
    }
    if properties.contains(.timestamp) { post.timestamp = number(Int64.self) }
    if properties.contains(.title) { post.title = text() }
    if properties.contains(.url) { post.url = text() }
    if properties.contains(.source) { post.source = text() }
    if properties.contains(.posted) { post.posted = number(Int16.self) }
    if properties.contains(.latitude) { post.latitude = double() }
    if properties.contains(.longitude) { post.longitude = double() }
  }

  /// A part of every value, to prove that each was read.
  mutating func touch(_ properties: PropertySet) -> UInt64 {
    var sum: UInt64 = 0
    for property in PostProperty.allCases where properties.contains(property) {
      let slice = slice(of: property)
      if let last = slice.last { sum &+= UInt64(last) &+ UInt64(slice.count) }
    }
    return sum
  }

  private mutating func text() -> String {
    let count = Int(bytes[offset])
    defer { offset += 1 + count }
    return String(decoding: bytes[offset + 1..<offset + 1 + count], as: UTF8.self)
  }
}

/// Where values begin in a packed post that has all of them.
enum PackedPost {
  static let timestampOffset = 16
  /// Latitude and longitude are the last two values.
  static func place(_ row: UnsafeRawBufferPointer) -> (latitude: Double, longitude: Double) {
    var reader = PackedReader(row, at: row.count - 16)
    return (reader.double(), reader.double())
  }

  static func timestamp(_ row: UnsafeRawBufferPointer) -> Int64 {
    row.loadUnaligned(fromByteOffset: timestampOffset, as: Int64.self)
  }
}
