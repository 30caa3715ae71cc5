import Annals
import AnnalsModel
import Testing

@testable import AnnalsCommand

/// A move in an ordered to-many is shown as one.
@Suite struct MoveTextTests {
  @Test func logShowAndDiffSayWhatMoved() throws {
    let folder = try CommandFolder()
    let store = try Store(
      path: folder.file("t.annals"),
      schema: Schema {
        Entity("Stop") { Attribute("name", .string, isOptional: false, isUnique: true) }
        Entity("Trip") {
          Attribute("name", .string, isOptional: false, isUnique: true)
          Relationship("stops", to: "Stop", isToMany: true, isOrdered: true)
        }
      })
    let (trip, stops) = try store.write { tx in
      let stops = try ["Uji", "Nara", "Otsu", "Kyoto", "Kobe"].map {
        try tx.insert("Stop", ["name": .string($0)])
      }
      let list = Value.objects(stops.map { ObjectReference($0) })
      return (try tx.insert("Trip", ["name": "japan", "stops": list]), stops)
    }
    try store.write { try $0.move("stops", of: trip, from: 3, to: 0) }
    try store.write { tx in
      try tx.move("stops", of: trip, stops[0], to: 4)
      try tx.delete(stops[1])
    }
    try store.close()
    let move = "stops: Stop/Kyoto moved from 4 to 1"
    for words in [
      ["log", "@t.annals"], ["show", "@t.annals", "3"], ["diff", "@t.annals", "2..3"],
    ] {
      let output = folder.run(words).output
      #expect(output.contains(move), "\(words): \(output)")
    }
    // The positions are those in the list before and in the list after.
    let both = folder.run("log", "@t.annals", "-n", "1").output
    #expect(both.contains("stops: -Stop/Nara, Stop/Uji moved from 2 to 4"), "\(both)")
    let json = folder.run("log", "@t.annals", "--format", "jsonl").output
    #expect(!json.contains("moved") && json.contains("\"stops\""), "\(json)")
  }
}
