import Annals
import AnnalsFormat
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// What becomes of items of extension areas that this version does not know: each cell of the table
/// in Docs/Writing-the-format.md. Every area has an item with an even tag and one with an odd one.
@Suite struct ExtensionItemTests {
  private static let all: [UInt64] = [100, 101]
  private static let odd: [UInt64] = [101]
  private static let items: ContiguousArray<UInt8> = [100, 3, 1, 2, 3, 101, 0]

  /// The tags of unknown items in a file, for each kind of area the lists that occur.
  private struct Areas {
    var transactions: Set<[UInt64]> = []
    /// Of entities, properties and indexes, in transactions and directories.
    var definitions: Set<[UInt64]> = []
    var largeValues: Set<[UInt64]> = []
    /// Of the base's directory, and of the newest; nil if there is none.
    var base: [UInt64]?
    var newest: [UInt64]?

    init(_ folder: CommandFolder, _ name: String) throws {
      let data = try Data(contentsOf: URL(fileURLWithPath: folder.file(name)))
      let file = try FixtureBytes(ContiguousArray(data))
      for frame in file.frames {
        try file.bytes[frame.payload].withUnsafeBytes { payload in
          switch frame.header.kind {
          case .transaction, .block:
            var batch = ChangeBatch()
            if frame.header.kind == .block {
              try BlockCodec.decode(payload, into: &batch)
            } else {
              try TransactionCodec.decode(payload, into: &batch)
            }
            for record in batch.transactions {
              note(record.extensions, in: \.transactions)
              for change in record.schemaChange { note(change.definition) }
            }
          case .largeValue:
            note(try LargeValueCodec.decode(payload).extensions, in: \.largeValues)
          case .checkpoint:
            let directory = try CheckpointDirectory.decode(payload)
            for entity in directory.schema.entities { note(entity) }
            let tags = Areas.tags(directory.extensions)
            if directory.isBase { base = tags } else { newest = tags }
          default: break
          }
        }
      }
    }

    private static func tags(_ items: ContiguousArray<UInt8>) -> [UInt64] {
      ExtensionArea.items(of: items).map(\.tag).filter { $0 >= 100 }
    }

    private mutating func note(
      _ items: ContiguousArray<UInt8>, in area: WritableKeyPath<Areas, Set<[UInt64]>>
    ) {
      let tags = Areas.tags(items)
      if !tags.isEmpty { self[keyPath: area].insert(tags) }
    }

    private mutating func note(_ entity: Entity) {
      let properties = entity.attributes.map(\.extensions) + entity.relationships.map(\.extensions)
      for items in [entity.extensions] + properties + entity.indexes.map(\.extensions) {
        note(items, in: \.definitions)
      }
    }
  }

  /// A folder with `f.annals`: transactions, definitions and large values with items, and then a
  /// checkpoint whose directory has them, too.
  private func folder(checkpoint: Bool = true) throws -> CommandFolder {
    let folder = try CommandFolder()
    let url = URL(fileURLWithPath: folder.file("f.annals"))
    try Data(contentsOf: FixtureRecipe.named("newer-extensions").file(".annals")).write(to: url)
    if checkpoint { try self.checkpoint(folder) }
    return folder
  }

  /// Writes a checkpoint, and gives its directory items.
  private func checkpoint(_ folder: CommandFolder) throws {
    let path = folder.file("f.annals")
    let store = try Store(.file(path))
    try store.checkpoint()
    try store.close()
    var bytes = try FixtureBytes(ContiguousArray(Data(contentsOf: URL(fileURLWithPath: path))))
    try bytes.extendNewestDirectory(ExtensionItemTests.items)
    try Data(bytes.bytes).write(to: URL(fileURLWithPath: path))
  }

  private func run(_ folder: CommandFolder, _ verb: String...) throws {
    let run = folder.run(verb)
    #expect(run.status != .couldNotRun, "\(verb): \(run)")
  }

  @Test func theFileHasThem() throws {
    let areas = try Areas(try folder(), "f.annals")
    #expect(areas.transactions == [ExtensionItemTests.all])
    #expect(areas.definitions == [ExtensionItemTests.all])
    #expect(areas.largeValues == [ExtensionItemTests.all])
    #expect(areas.base == nil && areas.newest == ExtensionItemTests.all)
  }

  /// What is not written anew keeps all; the new directory has the odd ones of the one before, also
  /// where an opening begins before that one.
  @Test(arguments: [false, true]) func aCheckpoint(isMet: Bool) throws {
    let folder = try folder()
    if isMet {
      // Without a slot that names it, the checkpoint is met behind the start.
      let url = URL(fileURLWithPath: folder.file("f.annals"))
      var bytes = try FixtureBytes(ContiguousArray(Data(contentsOf: url)))
      for slot in 0...1 {
        try bytes.bytes.editSlot(slot) { ($0.checkpointOffset, $0.checkpointNumber) = (0, 0) }
      }
      try Data(bytes.bytes).write(to: url)
    }
    try run(folder, "put", "@f.annals", "Note/new", "count=1")
    let store = try Store(.file(folder.file("f.annals")))
    try store.checkpoint()
    try store.close()
    let areas = try Areas(folder, "f.annals")
    #expect(areas.transactions == [ExtensionItemTests.all])
    #expect(areas.definitions == [ExtensionItemTests.all])
    #expect(areas.largeValues == [ExtensionItemTests.all])
    #expect(areas.newest == ExtensionItemTests.odd)
  }

  /// A definition that changes keeps the odd ones, the others keep all.
  @Test func aSchemaChange() throws {
    let folder = try folder(checkpoint: false)
    let store = try Store(.file(folder.file("f.annals")))
    try store.edit(.renameProperty(entity: "Note", "text", to: "words"))
    let note = try #require(store.schema.entity(named: "Note"))
    func tags(_ items: ContiguousArray<UInt8>) -> [UInt64] {
      ExtensionArea.items(of: items).map(\.tag).filter { $0 >= 100 }
    }
    #expect(tags(note.extensions) == ExtensionItemTests.odd)
    #expect(note.attributes.count > 1)
    for attribute in note.attributes {
      let isChanged = attribute.name == "words"
      #expect(
        tags(attribute.extensions) == (isChanged ? ExtensionItemTests.odd : ExtensionItemTests.all))
    }
    for index in note.indexes where !index.elements.isEmpty {
      #expect(tags(index.extensions) == ExtensionItemTests.all)
    }
    try store.close()
    let again = try Store(.file(folder.file("f.annals")), options: .readOnly)
    #expect(again.schema.entity(named: "Note") == note)
    #expect(folder.run("verify", "@f.annals").status == .done)
  }

  /// One rewrite after the other: what is copied has the odd ones, definitions keep all.
  private func expectRewritten(
    _ folder: CommandFolder, _ name: String = "f.annals", base: [UInt64]?, newest: [UInt64]?,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let areas = try Areas(folder, name)
    let odd = ExtensionItemTests.odd
    #expect(areas.transactions.isSubset(of: [odd]), sourceLocation: sourceLocation)
    #expect(areas.definitions == [ExtensionItemTests.all], sourceLocation: sourceLocation)
    #expect(areas.largeValues == [odd], sourceLocation: sourceLocation)
    #expect(areas.base == base && areas.newest == newest, sourceLocation: sourceLocation)
    #expect(folder.run("verify", "@\(name)").status == .done, sourceLocation: sourceLocation)
  }

  @Test func compactions() throws {
    let folder = try folder()
    try run(folder, "compact", "@f.annals")
    try expectRewritten(folder, base: nil, newest: ExtensionItemTests.odd)
    try run(folder, "compact", "@f.annals", "--smallest")
    try expectRewritten(folder, base: nil, newest: nil)
  }

  /// The base has those of the newest checkpoint that is not after it; a compaction keeps the odd
  /// ones of the base.
  @Test func prunes() throws {
    let folder = try folder()
    try run(folder, "prune", "@f.annals", "--before", "4", "--yes")
    try expectRewritten(folder, base: [], newest: ExtensionItemTests.odd)
    try run(folder, "put", "@f.annals", "Note/new", "count=1")
    try run(folder, "prune", "@f.annals", "--before", "6", "--yes")
    try expectRewritten(folder, base: ExtensionItemTests.odd, newest: nil)
    let url = URL(fileURLWithPath: folder.file("f.annals"))
    var bytes = try FixtureBytes(ContiguousArray(Data(contentsOf: url)))
    try bytes.extendNewestDirectory(ExtensionItemTests.items)
    try Data(bytes.bytes).write(to: url)
    #expect(try Areas(folder, "f.annals").base == ExtensionItemTests.all)
    for number in 1...40 { try run(folder, "put", "@f.annals", "Note/new", "count=\(number)") }
    try run(folder, "compact", "@f.annals")
    try expectRewritten(folder, base: ExtensionItemTests.odd, newest: nil)
  }

  @Test func anErasure() throws {
    let folder = try folder()
    try run(folder, "erase", "@f.annals", "Note/short", "--reason", "asked", "--yes")
    try expectRewritten(folder, base: nil, newest: nil)
  }

  @Test func replays() throws {
    let folder = try folder()
    try run(folder, "replay", "@f.annals", "@other.annals", "--to", "5")
    try expectRewritten(folder, "other.annals", base: nil, newest: ExtensionItemTests.odd)
    try run(folder, "replay", "@f.annals", "@flat.annals", "--to", "5", "--flatten")
    try expectRewritten(folder, "flat.annals", base: ExtensionItemTests.odd, newest: nil)
  }

  @Test func salvages() throws {
    let folder = try folder()
    try run(folder, "salvage", "@f.annals", "@copy.annals")
    try expectRewritten(folder, "copy.annals", base: nil, newest: [])
    try run(folder, "put", "@f.annals", "Note/new", "count=1")
    try run(folder, "prune", "@f.annals", "--before", "6", "--yes")
    try run(folder, "salvage", "@f.annals", "@pruned.annals")
    try expectRewritten(
      folder, "pruned.annals", base: ExtensionItemTests.odd, newest: ExtensionItemTests.odd)
  }
}
