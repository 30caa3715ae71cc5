import AnnalsModel
import AnnalsTestSupport
import Testing

/// Changes of entities: what they list, and what they lead to.
@Suite struct EntityChangeTests {
  private func note() -> Entity {
    var note = Entity("Note", displayName: "text")
    note.number = 3
    for (number, name) in [(1, "id"), (2, "text"), (5, "place")] as [(PropertyNumber, String)] {
      var attribute = Attribute(name, .string)
      attribute.number = number
      note.attributes.append(attribute)
    }
    var folder = Relationship("folder", to: "")
    folder.number = 3
    folder.destination = 3
    note.relationships = [folder]
    note.indexes = [index(4, over: 2)]
    note.nextPropertyNumber = 6
    return note
  }

  private func index(_ number: PropertyNumber, over property: PropertyNumber) -> IndexDescription {
    var element = IndexElement("")
    element.property = property
    var index = IndexDescription("by \(property)", [element])
    index.number = number
    return index
  }

  @Test func listsOnlyWhatIsNewOrChanged() {
    let old = note()
    var new = old
    var added = Attribute("added", .int64)
    added.number = 6
    new.attributes[1].type = .any
    new.attributes.append(added)
    new.indexes = [index(7, over: 6)]
    new.nextPropertyNumber = 8
    let change = EntityChange(from: old, to: new, whole: 0)
    #expect(change.isPartial)
    #expect(change.definition.attributes.map(\.number) == [2, 6])
    #expect(change.definition.relationships.isEmpty)
    #expect(change.definition.indexes.map(\.number) == [7])
    #expect(change.droppedIndexes == [4])
    var reached = old
    reached.apply(change)
    #expect(reached == new)
  }

  /// Names are bytes: two that look the same are not.
  @Test func aNameOfOtherBytesIsAChange() {
    let old = note()
    for composed in [true, false] {
      var before = old
      before.attributes[2].name = composed ? "caf\u{E9}" : "cafe\u{301}"
      var after = old
      after.attributes[2].name = composed ? "cafe\u{301}" : "caf\u{E9}"
      #expect(EntityChange(from: before, to: after, whole: 0).definition.attributes.count == 1)
    }
    #expect(EntityChange(from: old, to: old, whole: 0).definition.attributes.isEmpty)
  }

  /// Small entities are said again whole, so that damage to one definition does not take the names.
  @Test func smallEntitiesAreDefinedWhole() {
    let old = note()
    var new = old
    new.isRemoved = true
    #expect(EntityChange(from: old, to: new) == EntityChange(new))
  }

  /// What a partial change cannot say: an attribute that is gone.
  @Test func aPropertyThatIsGoneNeedsTheWhole() {
    let old = note()
    var new = old
    new.attributes.remove(at: 1)
    let change = EntityChange(from: old, to: new, whole: 0)
    #expect(!change.isPartial && change.definition == new)
  }

  @Test func whatDoesNotFit() {
    let old = note()
    func change(_ body: (inout EntityChange) -> Void) -> EntityChange {
      var change = EntityChange(from: old, to: old, whole: 0)
      change.definition.nextPropertyNumber = 9
      body(&change)
      return change
    }
    func attribute(_ number: PropertyNumber) -> Attribute {
      var attribute = Attribute("new", .any)
      attribute.number = number
      return attribute
    }
    #expect(change { $0.definition.attributes = [attribute(2), attribute(8)] }.misfit(old) == nil)
    #expect(change { $0.droppedIndexes = [4] }.misfit(old) == nil)
    #expect(change { _ in }.misfit(nil)?.contains("never defined") == true)
    #expect(EntityChange(old).misfit(nil) == nil)
    #expect(change { $0.definition.nextPropertyNumber = 5 }.misfit(old)?.contains("back") == true)
    for taken in [3, 4] as [PropertyNumber] {
      let misfit = change { $0.definition.attributes = [attribute(taken)] }.misfit(old)
      #expect(misfit?.contains("number \(taken) of entity 3 given twice") == true)
    }
    #expect(change { $0.droppedIndexes = [5] }.misfit(old)?.contains("no index 5") == true)
    var folder = old.relationships[0]
    folder.number = 1
    #expect(change { $0.definition.relationships = [folder] }.misfit(old) != nil)
    #expect(change { $0.definition.indexes = [index(3, over: 1)] }.misfit(old) != nil)
  }

  /// Random schemas that grow and shrink step by step, against the whole definitions.
  @Test(arguments: UInt64(1)...20)
  func followsRandomSteps(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var whole = Schema(entities: [note()])
    whole.entities[0].number = 1
    var followed = whole
    for step in 0..<60 {
      let before = whole
      var touched: Set<EntityNumber> = []
      for _ in 0...random.below(3) {
        let place = random.below(whole.entities.count)
        touched.insert(whole.entities[place].number)
        whole.entities[place].step(&random, named: "s\(step)")
      }
      if random.chance(10) {
        var added = note()
        added.number = EntityNumber(whole.entities.count + 1)
        whole.entities.append(added)
        touched.insert(added.number)
      }
      let changes = whole.changes(from: before, of: touched.sorted(), whole: 0)
      for change in changes {
        #expect(change.misfit(before.entity(numbered: change.number)) == nil, "seed \(seed)")
      }
      followed.apply(changes)
      #expect(followed == whole, "seed \(seed), step \(step)")
    }
  }
}

extension Entity {
  /// Makes one random change.
  fileprivate mutating func step(_ random: inout SeededRandom, named name: String) {
    func next() -> PropertyNumber {
      nextPropertyNumber += 1
      return nextPropertyNumber - 1
    }
    switch random.below(8) {
    case 0, 1, 2:
      var added = Attribute(name, .int64)
      added.number = next()
      attributes.append(added)
    case 3:
      var added = Relationship(name, to: "")
      added.number = next()
      relationships.append(added)
    case 4:
      var element = IndexElement("")
      element.property = attributes[0].number
      var added = IndexDescription(name, [element])
      added.number = next()
      indexes.append(added)
    case 5: attributes[random.below(attributes.count)].name = name
    case 6: attributes[random.below(attributes.count)].isRemoved = true
    default:
      if !indexes.isEmpty { indexes.remove(at: random.below(indexes.count)) }
      isRemoved = random.chance(5)
    }
  }
}
