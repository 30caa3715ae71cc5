import Annals
import AnnalsShipping
import AnnalsTestSupport
import Foundation
import Testing

/// The program in the article `Shipping`.
@Suite struct ShippingTests {
  @Test func shipAndRestore() throws {
    let temporary = try TemporaryFolder()
    let (path, folder) = (temporary.path("posts.annals"), temporary.path("posts"))
    let other = temporary.path("other.annals")
    let schema = Schema { Entity("Post") { Attribute("title", .string) } }
    let store = try Store(path: path, schema: schema)
    for title in ["Fog", "Mist"] {
      try store.write { _ = try $0.insert("Post", ["title": .string(title)]) }
    }
    let shipper = try Shipper(path, to: folder)
    let report = try shipper.pass()
    #expect(report.head == 3 && report.newBase == .first)
    let restored = try Store.restore(from: folder, to: other, at: 2)
    #expect(restored.number == 2 && restored.newest == 3)
    let again = try Store(path: other)
    #expect(try again.snapshot().objects(of: "Post").map { $0["title"] } == ["Fog"])
    #expect(again.id == store.id)
    #expect(try again.verify().isEmpty)
    try again.close()
    shipper.close()
    #expect(try !store.ship(to: folder).isChanged)
    #expect(try ShippedStore(in: folder).bases.map(\.last) == [3])
    try store.close()
  }
}
