import Annals
import AnnalsFormat
import AnnalsModel
import Foundation
import Testing

/// A value over 4 KiB is the same value wherever it is read.
@Suite struct LargeValueEqualityTests {
  private struct Page: Record {
    var body: String
    var anything: Value
    static let entity = RecordEntity(
      "Page", Page.init, Property("body", \.body), Property("anything", \.anything))
  }

  @Test func readAndUnreadAreEqual() throws {
    let text = String(repeating: "é", count: 3_000)
    let bytes = (0..<5_000).map { UInt8(truncatingIfNeeded: $0) }
    let store = try Store(.memory, records: Page.self)
    let page = try store.write { try $0.insert(Page(body: text, anything: .data(bytes))) }
    let inserted = try #require(try store.transaction(store.token.number).changes.first)
    let (body, anything) = (inserted.after("body"), inserted.after("anything"))
    guard case .large = body, case .large = anything else { throw Mismatch("not large") }
    let read = try #require(try store.snapshot().object(page.objectID))
    #expect(body == read["body"] && read["body"] == body && body == .string(text))
    #expect(anything == page.anything && page.anything == .data(bytes))
    #expect(Set([body, read["body"], .string(text)]).count == 1)
    #expect(Set([anything, page.anything]).count == 1)
    // The same bytes written again, under another number.
    try store.write { try $0.delete(page) }
    try store.write { try $0.insert(Page(body: text, anything: nil)) }
    let again = try #require(try store.transaction(store.token.number).changes.first).after("body")
    #expect(again == body && again.hashValue == body.hashValue)
  }

  /// A transaction that was given a value which the store had already could not read it.
  @Test func aTransactionReadsWhatTheStoreHadAlready() throws {
    let text = String(repeating: "x", count: 5_000)
    let store = try Store(.memory, records: Page.self)
    let page = Page(body: text, anything: nil)
    let first = try store.write { try $0.insert(page) }
    try store.write { tx in
      let second = try tx.insert(page)
      for id in [first.objectID, second.objectID] {
        #expect(try tx.object(Page.self, id)?.value.body == text)
      }
    }
  }

  @Test func othersDiffer() throws {
    let text = String(repeating: "x", count: 5_000)
    let large = Value.large(
      LargeValue(
        tag: .string, number: 1, length: 5_000,
        checksum: Array(text.utf8).withUnsafeBytes { Checksum.crc32($0) }))
    #expect(large == .string(text))
    #expect(large != .string("y" + text.dropFirst()))
    #expect(large != .string(text + "x"))
    #expect(large != .json(text) && large != .data(Array(text.utf8)))
    #expect(large != .null && large != .int(1))
    // No value of so few bytes is large: a file that says so is not believed to mean the same.
    let short = Value.large(LargeValue(tag: .string, number: 1, length: 0, checksum: 0))
    #expect(short != .string(""))
  }
}
