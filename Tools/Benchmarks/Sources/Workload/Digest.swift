import Foundation

/// A checksum over values, the same in every language: FNV-1a of 64 bits over little-endian bytes.
public struct Digest: Sendable {
  /// The checksum of what was put in so far.
  public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The checksum of nothing.
  public init() {}

  /// Adds a byte.
  @inline(__always)
  public mutating func add(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
  }

  /// Adds a number as eight bytes.
  public mutating func add(_ number: Int64) {
    for shift in stride(from: Int64(0), to: 64, by: 8) {
      add(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  /// Adds a text's bytes.
  public mutating func add(_ text: String) {
    for byte in text.utf8 { add(byte) }
  }

  /// Adds the values of a post, titles and sources as their numbers.
  public mutating func add(_ post: WorkloadPost) {
    withUnsafeBytes(of: post.identifier.uuid) { for byte in $0 { add(byte) } }
    add(post.timestamp)
    add(Int64(post.title))
    add(post.url)
    add(Int64(post.source))
    add(Int64(post.posted))
    add(Int64(bitPattern: post.latitude.bitPattern))
    add(Int64(bitPattern: post.longitude.bitPattern))
  }
}

extension Workload {
  /// The checksum of the workload of 100,000 posts and 20,000 operations, as the C program that
  /// defines the workload generates it.
  public static let expectedChecksum: UInt64 = 0x873D_409E_EF92_E351

  /// A checksum over every value generated.
  public var checksum: UInt64 {
    var digest = Digest()
    for post in posts { digest.add(post) }
    for operation in operations {
      digest.add(operation.time)
      digest.add(Int64(operation.object))
      digest.add(Int64(operation.properties.rawValue))
      digest.add(Int64(operation.kind.rawValue))
      digest.add(Int64(operation.author))
      digest.add(Int64(operation.context))
      digest.add(operation.post)
    }
    return digest.value
  }
}
