import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsInspector

/// Documents about the bytes of a file, of sound, damaged and foreign ones.
@Suite(.deadline) struct FileDocumentTests {
  private let world: InspectorWorld

  init() throws { world = try InspectorWorld() }

  private func bytes() throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: world.path)))
  }

  private func overwrite(_ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: world.path))
  }

  /// Pages of regions, and the strip, cover the file without gap or overlap.
  @Test func framesCoverTheFile() throws {
    let size = UInt64(try bytes().count)
    var (regions, from) = ([FramesDocument.Region](), 0 as UInt64?)
    while let next = from {
      let page = try world.ask(["from": "\(next)", "limit": "9"]).frames()
      regions += page.regions
      from = page.next
    }
    var end: UInt64 = 0
    for region in regions {
      #expect(region.offset == end && region.isOk)
      end += region.length
    }
    #expect(end == size)
    for most in [1, 5, 600] {
      let strip = try world.ask(["pieces": "\(most)"]).strip()
      #expect(strip.progress == 1 && strip.pieces.count <= max(2 * most, most))
      #expect(strip.pieces.reduce(0) { $0 + $1.length } == size)
    }
    #expect(try world.ask().strip().pieces.prefix(2).map(\.kind) == ["header", "slot"])
  }

  /// The fields of each region cover it, and are found from any byte of it.
  @Test func bytesOfARegion() throws {
    let whole = try bytes()
    for region in try world.ask(["limit": "12"]).frames().regions {
      let middle = region.offset + region.length / 2
      let document = try world.ask(["offset": "\(middle)", "length": "65536"]).bytes()
      #expect(document.offset == region.offset && document.kind == region.kind)
      let range = Int(region.offset)..<Int(region.offset + region.length)
      #expect(Data(base64Encoded: document.bytes) == Data(whole[range]))
      var end = region.offset
      for field in document.fields where field.length > 0 {
        #expect(field.offset <= end, "a gap before \(field.name)")
        end = max(end, field.offset + field.length)
      }
      #expect(end == region.offset + region.length)
      if let next = document.next {
        #expect(try world.ask(["offset": "\(next)"]).bytes().previous == region.offset)
      }
    }
  }

  @Test func spaceAddsUp() throws {
    let document = try world.ask().space()
    #expect(document.progress == 1 && document.isSound)
    #expect(document.uses.reduce(0) { $0 + $1.bytes } == document.size)
    #expect(document.authors.reduce(0) { $0 + $1.transactions } == Int64(world.count))
    #expect(document.months.reduce(0) { $0 + $1.transactions } == Int64(world.count))
    let byAuthor = document.authors.reduce(0) { $0 + $1.bytes }
    let byMonth = document.months.reduce(0) { $0 + $1.bytes }
    let live = document.uses.first { $0.use == "live" }?.bytes ?? 0
    #expect(byAuthor <= live && byAuthor + 200 > live && byMonth + 200 > live)
  }

  @Test func findingsOfASoundFile() throws {
    var asking = world.ask()
    asking.patience = .seconds(60)
    let document = try asking.findings()
    #expect(document.isSound && document.stage == "done" && document.errors == 0)
  }

  /// A finding has the command that it recommends, as `annals verify` prints it.
  @Test func whatAFindingRecommends() throws {
    try overwrite([UInt8](Data(contentsOf: fixture("damaged-directory"))))
    var asking = world.ask()
    asking.patience = .seconds(60)
    let document = try asking.findings()
    #expect(document.isSound && document.warnings == 3 && document.transactions == 10)
    #expect(Set(document.findings.map(\.remedy)) == ["annals compact world.annals"])
  }

  /// A damaged file says what helps; frames, bytes and findings can still be read.
  @Test func aDamagedFile() throws {
    var damaged = try bytes()
    let place = 12_288 + 700
    damaged[place] ^= 0x40
    try overwrite(damaged)
    let inspector = try Inspector(path: world.path)
    var asking = world.ask()
    asking.patience = .seconds(60)
    let findings = try asking.findings()
    #expect(!findings.isSound && findings.findings.contains { $0.severity == "error" })
    #expect(findings.findings.first?.remedy?.hasPrefix("annals salvage world.annals") == true)
    let strip = try world.ask().strip()
    #expect(strip.pieces.contains { !$0.isOk })
    let frames = try world.ask().frames()
    #expect(frames.regions.contains { !$0.isOk } && frames.isStore)
    for document in ["frames", "strip", "bytes", "findings", "space"] {
      #expect(inspector.answer(InspectorRequest(document)).status == 200, "\(document)")
    }
    #expect(inspector.answer(InspectorRequest("bytes", query: "offset=\(place)")).status == 200)
  }

  @Test(arguments: [0, 1, 5_000, 20_000])
  func aForeignFile(count: Int) throws {
    try overwrite((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let inspector = try Inspector(path: world.path)
    let overview = inspector.answer(InspectorRequest("overview"))
    #expect(overview.status == 422)
    for document in ["frames", "strip", "findings", "space"] {
      #expect(inspector.answer(InspectorRequest(document)).status == 200, "\(document)")
    }
    let bytes = inspector.answer(InspectorRequest("bytes"))
    #expect(bytes.status == (count == 0 ? 404 : 200))
    let stores = inspector.answer(InspectorRequest("stores"))
    #expect(String(decoding: stores.body, as: UTF8.self).contains("\"problem\""))
  }

  /// No request changes a byte of the file, its time, or its folder.
  @Test func readsNeverWrite() throws {
    let folder = world.folder
    let before = (try bytes(), try modified(), try folder.names())
    let inspector = try Inspector(path: world.path)
    let post = try world.ask(["entity": "Post", "limit": "1"]).table().rows[0].object.id
    let name = post.replacing("#", with: "%23")
    for (document, query) in [
      ("stores", ""), ("overview", "at=7"), ("moment", ""), ("density", ""),
      ("table", "entity=Post&sort=-rank&referrers=1"), ("plan", "entity=Post"),
      ("groups", "entity=Post&by=title"), ("object", "object=\(name)"),
      ("referrers", "object=Place%231&property=Post.tags"), ("life", "object=\(name)"),
      ("version", "object=\(name)&from=3"), ("transactions", ""), ("transaction", "number=4"),
      ("diff", "from=2"), ("timeline", "lifetimes=1"), ("schema", ""), ("space", ""),
      ("since", "object=\(name)"), ("findings", ""), ("frames", ""), ("strip", ""),
      ("bytes", "offset=13000"), ("value", "object=\(name)&property=title"),
    ] {
      let answer = inspector.answer(InspectorRequest(document, query: query))
      #expect(answer.status == 200, "\(document): \(String(decoding: answer.body, as: UTF8.self))")
      let isShown = String(decoding: answer.body, as: UTF8.self).contains("\"command\":\"annals ")
      #expect(isShown || document == "value", "\(document) has no command")
    }
    inspector.close()
    #expect(try bytes() == before.0)
    #expect(try modified() == before.1 && folder.names() == before.2)
  }

  private func modified() throws -> Date? {
    try FileManager.default.attributesOfItem(atPath: world.path)[.modificationDate] as? Date
  }

  @Test func cancelledWorkEnds() throws {
    let inspector = try Inspector(path: world.path)
    let cancellation = InspectorCancellation()
    cancellation.cancel()
    let answer = inspector.answer(
      InspectorRequest("table", query: "entity=Post"), cancellation: cancellation)
    #expect(answer.status == 499)
  }

  @Test(arguments: [
    "entity=%", "entity=%zz", "entity=%ff", "at=%00", "object=x", "limit=x", "at=99999999",
  ])
  func malformedRequests(query: String) throws {
    let inspector = try Inspector(path: world.path)
    for document in Asking.documents.keys.sorted() {
      let answer = inspector.answer(InspectorRequest(document, query: query))
      #expect(answer.status == 200 || (400..<500).contains(answer.status), "\(document)")
    }
    #expect(inspector.answer(InspectorRequest("../../etc/passwd")).status == 404)
    #expect(inspector.answer(InspectorRequest("overview", query: "store=..%2Fx")).status == 404)
  }

  /// Of an empty value there is no part.
  @Test func aPartOfAnEmptyValue() throws {
    try world.write { store in
      try store.write { tx in
        _ = try tx.insert("Post", ["id": .string("e"), "title": .string("")])
      }
    }
    let inspector = try Inspector(path: world.path)
    let query = "object=Post/e&property=title"
    for range in [nil, "bytes=0-", "bytes=0-99", "bytes=7-"] {
      let answer = inspector.answer(InspectorRequest("value", query: query, range: range))
      #expect(answer.status == 200 && answer.body.isEmpty)
      #expect(!answer.headers.contains { $0.0 == "Content-Range" })
    }
  }
}
