import Annals
import Foundation
import Measuring

/// One value of 200 MB, written and read whole, by stream or by range: one of the phases in each
/// process, with its peak memory.
struct StreamSession {
  private static let length = 200_000_000

  let path: String
  let setup: Setup
  let phase: String

  init(_ path: String, _ setup: Setup, _ options: Options) throws {
    self.path = path
    self.setup = setup
    phase = try options.choice(
      "phases", "insert-stream", "insert-whole", "read-stream", "read-whole", "read-range")
  }

  func run() throws {
    let recorder = setup.recorder
    if phase.hasPrefix("insert") { unlink(path) }
    let store = try Store(path: path, records: PhotoRecord.self, options: setup.storeOptions)
    defer { try? store.close() }
    // What a phase begins with, a whole value included, is not its own.
    let whole = phase == "insert-whole" ? Self.whole() : Data()
    let base = Footprint.resident
    switch phase {
    case "insert-whole":
      try recorder.time("24 insert 200 MB whole, a MB", items: 200) {
        try store.write { tx in _ = try tx.insert(PhotoRecord(title: "Map", image: whole)) }
      }
    case "insert-stream":
      try recorder.time("24a insert 200 MB by stream, a MB", items: 200) {
        try store.write { tx in
          let made = try tx.insert(PhotoRecord(title: "Map", image: Data()))
          try tx.set(\.image, of: made, from: Self.input())
        }
      }
    default: try read(store)
    }
    recorder.megabytes("24p \(phase): peak memory over the start", Footprint.peak - base)
  }

  private func read(_ store: Store) throws {
    let snapshot = store.snapshot()
    guard let id = ObjectID("1#1@\(store.id)") else { throw Failure("no id") }
    let recorder = setup.recorder
    guard let stored = try snapshot.bytes(\PhotoRecord.image, of: id) else {
      throw Failure("no value: insert it first")
    }
    try expect("bytes", stored.count, is: Self.length)
    switch phase {
    case "read-whole":
      let photo = try recorder.time("24b read 200 MB whole, a MB", items: 200) {
        try snapshot.object(PhotoRecord.self, id)
      }
      try expect("bytes", photo?.image.count, is: Self.length)
    case "read-stream":
      var count = 0
      try recorder.time("24c read 200 MB by stream, a MB", items: 200) {
        try stored.forEachPiece { count += $0.count }
      }
      try expect("bytes", count, is: Self.length)
    default:
      try recorder.time("24d read 4 KiB of 200 MB, each", items: 100) {
        for number in 0..<100 {
          let start = number &* 1_999_993 % (Self.length - 4_096)
          try expect("bytes", stored.read(start..<start + 4_096).count, is: 4_096)
        }
      }
    }
  }

  /// Bytes that no compression makes smaller, from a file's worth of memory.
  private static let block: [UInt8] = {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    var words = [UInt64](repeating: 0, count: 1 << 17)
    for index in words.indices {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      words[index] = state
    }
    return words.withUnsafeBytes { Array($0) }
  }()

  private static func whole() -> Data {
    var result = Data(capacity: length)
    while result.count < length { result.append(contentsOf: block.prefix(length - result.count)) }
    return result
  }

  private static func input() -> ByteInput {
    let counter = Counter()
    return ByteInput(length: length) { buffer in
      let count = min(buffer.count, block.count, length - counter.done)
      block.withUnsafeBytes { buffer.copyMemory(from: .init(rebasing: $0[..<count])) }
      counter.done += count
      return count
    }
  }

  /// Used by the one thread that writes.
  private final class Counter: @unchecked Sendable {
    var done = 0
  }
}
