import Annals
import AnnalsExchange
import AnnalsTestSupport
import Foundation
import Testing

private struct Entry: Record {
  var title: String
  static let entity = RecordEntity("Entry", Entry.init, Property("title", \.title))
}

/// The code of *Import and export*.
@Suite struct ImportAndExportTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func filled() throws -> Store {
    let store = try Store(.memory, records: Entry.self)
    try store.write(author: "me") { tx in try tx.insert(Entry(title: "Fog")) }
    return store
  }

  @Test func theWholeHistory() throws {
    let store = try filled()
    let written = try store.export(to: folder.path("diary.jsonl.gz"))
    try Store.import(from: folder.path("diary.jsonl.gz"), to: folder.path("copy.annals"))
    let copy = try Store(path: folder.path("copy.annals"), records: Entry.self)
    #expect(copy.token.number == written.count)

    try store.write(author: "me") { tx in try tx.insert(Entry(title: "Mist")) }
    var lines = Data()
    try store.export(after: written.token) { lines += $0 }
    var pieces = [lines].makeIterator()
    try copy.import { pieces.next() }
    #expect(try copy.snapshot().objects(of: Entry.self).map(\.title) == ["Fog", "Mist"])

    try store.snapshot().export(to: folder.path("now.jsonl"), entity: "Entry")
    try store.snapshot(at: written.token).export(to: folder.path("then.jsonl"), entity: "Entry")
    #expect(try folder.text("now.jsonl").hasPrefix(try folder.text("then.jsonl")))

    #expect(throws: CancellationError.self) {
      try store.export(to: folder.path("part.jsonl")) { progress in
        if progress.fraction ?? 0 > 0.5 { throw CancellationError() }
      }
    }
  }

  @Test func linesOfOtherPrograms() throws {
    let text = #"""
      {"author":"scales","changes":[{"op":"insert","entity":"Weight","id":"mon","set":{"kg":71.5}}]}
      {"author":"scales","changes":[{"op":"update","entity":"Weight","id":"mon","set":{"kg":"71"}}]}
      {"author":"scales","changes":[{"op":"delete","entity":"Weight","id":"mon"}]}
      """#
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path("scales.jsonl")))
    let weights = Schema {
      Entity("Weight") {
        Attribute("id", .string, isOptional: false, isUnique: true)
        Attribute("kg", .double)
      }
    }
    do {
      try Store.import(
        from: folder.path("scales.jsonl"), to: folder.path("scales.annals"), schema: weights)
    } catch let error as AnnalsError {
      #expect(error.code == .invalidInput && error.inputPlace?.line == 2)
    }
    #expect(try folder.names() == ["scales.jsonl"])
    try Store.import(from: folder.path("scales.jsonl"), to: folder.path("inferred.annals"))
    let inferred = try Store(path: folder.path("inferred.annals"))
    #expect(try inferred.history().collect().map(\.author) == ["scales", "scales", "scales"])
  }
}
