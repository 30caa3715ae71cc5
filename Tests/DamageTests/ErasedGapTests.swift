import Annals
import AnnalsFormat
import AnnalsModel
import AnnalsSalvage
import AnnalsTestSupport
import Testing

/// Salvage where transactions are lost before, between and behind those that speak of erased lists:
/// what an erased list was before an edit, nobody can tell.
@Suite struct ErasedGapTests {
  /// A store whose lists were edited, erased in several blocks of history, and edited again.
  private func erasedLists() throws -> ContiguousArray<UInt8> {
    let location = try sampleFile()
    let store = try Store(
      location, schema: SampleFile.schema,
      environment: .fixed(seed: 1, processName: "sample", processID: 1))
    var notes: [ObjectID] = []
    var folders: [ObjectID] = []
    try store.write(author: "ann") { tx in
      for number in 0..<4 { notes.append(try tx.insert("Note", ["id": .string("n\(number)")])) }
      for number in 0..<3 {
        let list = notes.prefix(number + 1).map { ObjectReference($0) }
        folders.append(
          try tx.insert("Folder", ["name": .string("f\(number)"), "notes": .objects(list)]))
      }
    }
    func set(_ folder: Int, _ places: [Int]) throws {
      let list = places.map { ObjectReference(notes[$0]) }
      try store.write { try $0.update(folders[folder], ["notes": .objects(list)]) }
    }
    for round in 0..<3 {
      try set(0, [round, 3, 0])
      try set(1, round == 1 ? [] : [round])
      // So much that the next round is in another block.
      var filler: [ObjectID] = []
      try store.write { tx in
        for number in 0..<120 {
          let text = String(repeating: "\(number) ", count: 1_300)
          filler.append(
            try tx.insert("Note", ["id": .string("x\(number)"), "text": .string(text)]))
        }
      }
      try store.write { tx in for note in filler { try tx.delete(note) } }
    }
    try store.erase(folders[0], properties: ["notes"], reason: "it said too much", author: "ben")
    try store.erase(folders[2], reason: "asked for", author: "ben")
    // The list is erased, and gets a value again, which is edited; the other is edited on.
    try set(1, [2, 1, 0])
    try store.write { try $0.update(folders[0], ["name": "other"]) }
    try set(0, [1, 2])
    try set(0, [2, 1, 3])
    try store.erase(folders[1], properties: ["name", "notes"], reason: "again", author: "ben")
    try store.write { try $0.update(notes[0], ["count": 5]) }
    try store.write { try $0.delete(folders[1]) }
    try set(0, [])
    try store.write { try $0.delete(folders[0]) }
    try store.close()
    return try location.contents()
  }

  @Test func eachFrameAndNeighboursLost() throws {
    let bytes = try erasedLists()
    let lab = try SalvageLab(bytes)
    #expect(lab.original.states.values.contains { $0.contains(#""notes":{"$erased":true}"#) })
    let frames = try frameList(bytes).filter { [.transaction, .block].contains($0.kind) }
    let blocks = frames.filter { $0.kind == .block }
    #expect(blocks.count > 2 && frames.count > blocks.count + 3)
    for count in isLong ? [1, 2, 4] : [1, 3] {
      for place in stride(from: 0, through: frames.count - count, by: count) {
        var damaged = bytes
        for frame in frames[place..<place + count] { damaged[Int(frame.offset) + 30] ^= 4 }
        let what = "\(count) frames from that at \(frames[place].offset)"
        let report = try #require(try lab.check(damaged, what))
        #expect(!report.isComplete, "\(what)")
      }
    }
  }
}
