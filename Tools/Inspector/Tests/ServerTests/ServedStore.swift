import Annals
import AnnalsInspector
import Foundation
import InspectorPage

@testable import InspectorServer

/// A small store, served.
final class ServedStore {
  let folder: URL
  let path: String
  let server: InspectorServer
  private let task: Task<Void, Never>

  static let schema = Schema(entities: [
    Entity(
      "Post", attributes: [Attribute("id", .string, isUnique: true), Attribute("text", .string)])
  ])

  init(_ limits: InspectorServer.Limits = InspectorServer.Limits()) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "annals-serve-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.appending(path: "posts.annals").path
    try Store.with(path: path, schema: ServedStore.schema) { store in
      try store.write(author: "ann") { tx in
        for number in 0..<500 {
          try tx.insert("Post", ["id": .string("p\(number)"), "text": .string("<b>\(number)</b>")])
        }
        try tx.insert(
          "Post", ["id": "big", "text": .string(String(repeating: "0123456789", count: 900_000))])
      }
    }
    let server = try InspectorServer(
      Inspector(path: path), page: PageFiles(EmbeddedPage.contents), limits: limits)
    self.server = server
    task = Task { try? await server.run() }
  }

  deinit {
    task.cancel()
    let server = server
    Task { await server.stop() }
    try? FileManager.default.removeItem(at: folder)
  }

  var port: UInt16 { server.port }
  var token: String { String(server.address.split(separator: "=").last ?? "") }
  var cookie: String { "annals-\(port)=\(token)" }

  func client() throws -> RawClient { try RawClient(port: port) }

  /// One request on a connection of its own.
  func ask(
    _ target: String, method: String = "GET", host: String? = nil, cookie: String? = nil,
    _ headers: String...
  ) throws -> RawAnswer? {
    let client = try client()
    var lines = ["\(method) \(target) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")"]
    if let cookie = cookie ?? Optional(self.cookie), !cookie.isEmpty {
      lines.append("Cookie: \(cookie)")
    }
    lines += headers
    try client.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
    return client.answer(toHead: method == "HEAD")
  }
}
