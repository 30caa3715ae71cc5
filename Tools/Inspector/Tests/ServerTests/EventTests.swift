import Annals
import Foundation
import Testing

@testable import InspectorServer

/// The stream of what happens to a store.
@Suite(.apart) struct EventTests {
  @Test func whatOthersWriteIsTold() async throws {
    let served = try ServedStore()
    let client = try served.client()
    try client.send(
      "GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:\(served.port)\r\n"
        + "Cookie: \(served.cookie)\r\n\r\n")
    var text = ""
    func read(until mark: String) {
      while !text.contains(mark), let more = client.read() {
        text += String(decoding: more, as: UTF8.self)
      }
    }
    read(until: "\"head\":2")
    #expect(text.contains("Content-Type: text/event-stream") && text.contains("event: head"))
    try Store.with(path: served.path) { store in
      try store.write(author: "ben") { tx in
        _ = try tx.insert("Post", ["id": "new"])
      }
    }
    read(until: "\"head\":3")
    #expect(text.contains("\"author\":\"ben\""))
    try Store.with(path: served.path) { store in _ = try store.compact() }
    read(until: "compacted")
    #expect(text.contains("event: changed"))
    client.close()
    var count = 1
    for _ in 0..<100 where count > 0 {
      try await Task.sleep(for: .milliseconds(100))
      count = await served.server.connectionCount
    }
    #expect(count == 0, "the stream of who has left goes on")
  }

  @Test func streamsAreLimited() throws {
    var limits = InspectorServer.Limits()
    limits.streams = 2
    let served = try ServedStore(limits)
    let clients = try (0..<3).map { _ in try served.client() }
    var statuses: [Int] = []
    for client in clients {
      try client.send(
        "GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:\(served.port)\r\n"
          + "Cookie: \(served.cookie)\r\n\r\n")
      statuses.append(client.answer()?.status ?? 0)
    }
    #expect(statuses == [200, 200, 503])
  }

  /// Serving changes no byte of the file, and not its time.
  @Test func readsNeverWrite() throws {
    let served = try ServedStore()
    func standing() throws -> (Data, Date?) {
      (
        try Data(contentsOf: URL(fileURLWithPath: served.path)),
        try FileManager.default.attributesOfItem(atPath: served.path)[.modificationDate] as? Date
      )
    }
    let before = try standing()
    for document in ["overview", "density", "transactions", "space", "findings", "strip"] {
      #expect(try served.ask("/api/\(document)")?.status == 200)
    }
    let after = try standing()
    #expect(before == after)
  }
}
