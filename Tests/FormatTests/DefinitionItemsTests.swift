import Testing

@testable import AnnalsFormat
@testable import AnnalsModel

/// Fields of definitions that are items of an extension area, of each form that an item can have.
struct DefinitionItemsTests {
  private typealias Bytes = ContiguousArray<UInt8>

  enum Mood: CaseIterable, Sendable {
    case calm, wild
  }

  struct Sample: Definition {
    static let title = "sample"
    static let fields: [DefinitionField<Sample>] = [
      .text("name", \.name),
      .flag("on", \.isOn, unless: true).item(2, "off"),
      .whole("least", \.least).item(4, "the least"),
      .word("mood", \.mood, unless: .calm, refusal: "is no mood").item(5, "the mood"),
      .text("partner", \.partner).item(7, "the partner"),
    ]
    var name = ""
    var isOn = true
    var least: Int64?
    var mood = Mood.calm
    var partner: String?
  }

  private func adopt(_ area: Bytes, into sample: inout Sample) throws -> Bytes {
    try area.withUnsafeBytes {
      try DefinitionItems.adopt(area, into: &sample, at: ByteReader($0))
    }
  }

  @Test func everyFormReadsBackAmongUnknownItems() throws {
    let unknown: Bytes = [1, 1, 9, 6, 0]
    #expect(DefinitionItems.area(of: Sample(), besides: unknown) == unknown)
    let full = Sample(name: "", isOn: false, least: -3, mood: .wild, partner: "é")
    let area = DefinitionItems.area(of: full, besides: unknown)
    #expect(area == [1, 1, 9, 2, 0, 4, 1, 5, 5, 1, 2, 6, 0, 7, 2, 0xC3, 0xA9])
    var read = Sample()
    #expect(try adopt(area, into: &read) == unknown)
    #expect(read == full)
  }

  @Test func aWordOfALaterVersionStaysAsItIs() throws {
    var read = Sample()
    #expect(try adopt([5, 1, 3], into: &read) == [5, 1, 3])
    #expect(read == Sample())
    #expect(DefinitionItems.area(of: read, besides: [5, 1, 3]) == [5, 1, 3])
  }

  @Test(
    arguments: [
      [2, 1, 0], [4, 0], [4, 2, 2, 2], [5, 0], [5, 1, 0], [5, 2, 1, 1], [7, 1, 0xFF],
    ])
  func bytesThatSayNothingAreRefused(area: [UInt8]) {
    var read = Sample()
    #expect(throws: DecodeFault.self) { try adopt(Bytes(area), into: &read) }
  }

  @Test func itemsHaveMeanings() {
    #expect(
      DefinitionItems.meanings(of: Sample.self) == [
        "not known", "off", "not known", "the least", "the mood", "not known", "the partner",
      ])
    #expect(
      DefinitionItems.meanings(of: Relationship.self) == [
        "every object has one", "not known", "delete rule", "not known", "name of the inverse",
        "not known", "least number of objects", "not known", "most objects", "not known",
        "derived attributes are of its objects",
      ])
  }

  @Test func changesFollowWhatIsDeclared() {
    var stored = Relationship("to", to: "A")
    #expect(stored.grow(toHold: Relationship("to", to: "A", isOptional: false)) == [])
    #expect(!stored.isOptional && stored.texts == ["required"])
    #expect(stored.grow(toHold: Relationship("to", to: "A")) == [])
    #expect(stored.isOptional && stored.texts == [])
    #expect(
      stored.grow(toHold: Relationship("to", to: "A", isToMany: true, isOrdered: true))
        == ["the store has it to-one, not to-many"])
  }
}
