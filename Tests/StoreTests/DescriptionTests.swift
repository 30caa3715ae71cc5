import Annals
import AnnalsModel
import Foundation
import Testing

/// What prints when a program prints a schema, a plan or a result.
@Suite struct DescriptionTests {
  private let schema = Schema {
    Entity("Entry") {
      Attribute("id", .string, isOptional: false, isUnique: true)
      Attribute(
        "pages", .int64, isOptional: false, default: 1,
        validation: Validation(minimum: 0, maximum: 9))
      Attribute("mood", .string, validation: Validation(maximumLength: 8, oneOf: ["glad", "calm"]))
      Relationship("place", to: "Place")
      Relationship("others", to: "Place", isToMany: true)
      Relationship("way", to: "Place", isToMany: true, isOrdered: true)
      IndexDescription("pages", [IndexElement("pages")])
      IndexDescription("many", [IndexElement("mood")], where: .compare("pages", .greater, 5))
    }
    Entity("Place") { Attribute("name", .string, isPreservedAfterDeletion: true) }
  }

  @Test func aSchema() throws {
    let text = """
      Entry
        id: string, required, unique
        pages: int64, required, default 1, from 0, up to 9
        mood: string, length up to 8, one of "glad" "calm"
        place: Place
        others: any Place
        way: ordered Place
        index pages
        index many where pages > 5
      Place
        name: string, kept in tombstones
      """
    #expect("\(schema)" == text)
    let store = try Store(.memory, schema: schema)
    #expect("\(store.schema)" == text)
    try store.edit(.removeEntity("Entry"))
    #expect("\(store.schema)" == "Place\n  name: string, kept in tombstones")
  }

  @Test func plansAndResults() throws {
    let store = try Store(.memory, schema: schema)
    let id = try store.write { try $0.insert("Entry", ["id": "a"]) }
    try store.write { try $0.update(id, ["pages": 3]) }
    #expect(
      "\(try store.revertPlan(3))" == "undoes transaction 3: 0 deletions, 1 update, 0 revivals")
    #expect(
      "\(try store.revertPlan(2))"
        == "cannot undo transaction 2: Entry/a.pages, changed by transaction 3")
    let plan = "\(try store.prunePlan(before: 3))"
    #expect(plan == "drops 2 transactions before 3 (1 change), keeps 1")
    #expect("\(try store.maintenancePlan())" == "keeps everything: all history is kept")
    try store.setRetention(Retention(transactions: 1))
    let report = try store.maintain(minimumGain: 0)
    #expect(
      "\(report)".hasPrefix("keeps 1 transaction: drops 2 transactions before 3"), "\(report)")
    #expect("\(report)".contains(" bytes, were "), "\(report)")
    #expect("\(try store.compact())".contains(" bytes"))
  }
}
