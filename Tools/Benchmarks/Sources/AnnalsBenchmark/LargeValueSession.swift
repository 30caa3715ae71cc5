import Annals
import Foundation
import Measuring

/// A picture with its title.
struct PhotoRecord: Record {
  var title: String
  var image: Data

  static let entity = RecordEntity(
    "Photo", PhotoRecord.init,
    Property("title", \.title),
    Property("image", \.image))
}

/// 1,000 objects with a value of 1 MB each, whose titles change ten times.
struct LargeValueSession {
  private static let count = 1_000
  private static let length = 1_000_000
  private static let rounds = 10

  let path: String
  let setup: Setup

  init(_ path: String, _ setup: Setup) throws {
    self.path = path
    self.setup = setup
  }

  func write() throws {
    unlink(path)
    let base = Footprint.resident
    let recorder = setup.recorder
    let store = try open()
    var ids: [ObjectID] = []
    try recorder.time("11 insert large values", items: Self.count) {
      for number in 0..<Self.count {
        let photo = PhotoRecord(title: "Photo \(number)", image: Self.image(number))
        try store.write { tx in ids.append(try tx.insert(photo).objectID) }
      }
    }
    try recorder.time("11a change titles", items: Self.count * Self.rounds) {
      for round in 1...Self.rounds {
        for (number, id) in ids.enumerated() {
          try store.write { tx in
            try tx.update(PhotoRecord.self, id) { $0.title = "Photo \(number), \(round)" }
          }
        }
      }
    }
    recorder.megabytes("11p peak memory over the start", Footprint.peak - base)
    try store.close()
    let values = Double(Self.count * Self.length)
    recorder.value("11b file over values", Double(Footprint.file(path)) / values, "ratio")
  }

  func reopen() throws {
    let recorder = setup.recorder
    let base = Footprint.resident
    let store = try recorder.time("11c open", items: 1) { try open() }
    recorder.megabytes("11d memory after open", Footprint.resident - base)
    let snapshot = store.snapshot()
    try expect("photos", snapshot.count(of: PhotoRecord.self), is: Self.count)
    let number = Self.count / 2
    guard let id = ObjectID("1#\(number + 1)@\(store.id)") else { throw Failure("no id") }
    let photo = try recorder.time("11e read one value", items: 1) {
      try snapshot.object(PhotoRecord.self, id)
    }
    try expect("title", photo?.title, is: "Photo \(number), \(Self.rounds)")
    try expect("image", photo?.image, is: Self.image(number))
    recorder.megabytes("11f memory after reading one", Footprint.resident - base)
    try store.close()
  }

  private func open() throws -> Store {
    try Store(path: path, records: PhotoRecord.self, options: setup.storeOptions)
  }

  /// Bytes that no compression makes smaller, the same in every run.
  private static func image(_ number: Int) -> Data {
    var state = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 | 1
    var words = [UInt64](repeating: 0, count: length / 8)
    for index in words.indices {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      words[index] = state
    }
    return words.withUnsafeBytes { Data($0) }
  }
}
