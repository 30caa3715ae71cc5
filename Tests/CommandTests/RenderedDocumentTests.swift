import Annals
import AnnalsInspector
import ArgumentParser
import Foundation
import Testing

@testable import AnnalsCommand

/// The text of a verb has nothing that its document lacks: printed from a copy of the document that
/// went through JSON, it is the same.
@Suite struct RenderedDocumentTests {
  private static let names = FixtureRecipe.good.map(\.name)

  private let folder: CommandFolder

  init() throws { folder = try CommandFolder() }

  private func path(_ name: String) -> String {
    FixtureRecipe.folder.appending(path: "\(name).annals").path
  }

  private func copy<T: Codable>(_ document: T) throws -> T {
    try JSONDecoder().decode(T.self, from: JSONEncoder().encode(document))
  }

  @Test(arguments: names)
  func blame(name: String) throws {
    let file = path(name)
    for id in try objects(of: file) {
      let printed = folder.run("blame", file, id)
      let rendered = try folder.run { console in
        let command = try BlameCommand.parse([file, id])
        let store = try console.openForReading(file, holdingValues: false)
        defer { try? store.close() }
        let snapshot = try console.snapshot(nil, in: store, withOnly: [])
        let object = try ObjectArgument(id).findAll(inHistoryOf: store)[0].id(in: store)
        let blame = try store.version.blame(object, at: snapshot.number, readingLargeValues: false)
        let document = try command.document(blame, of: object, in: snapshot, store)
        try BlameText(console).write(copy(document))
        return .done
      }
      #expect(rendered.output == printed.output && printed.status == .done, "\(id)")
    }
  }

  @Test(arguments: names, [[], ["--oneline"], ["--reverse", "-n", "3"]])
  func log(name: String, options: [String]) throws {
    let file = path(name)
    let printed = folder.run(["log", file] + options)
    let rendered = try folder.run { console in
      let command = try LogCommand.parse([file] + options)
      let text = TransactionText(console)
      try reading(file) { store in
        var walk = try HistoryWalk(
          store, after: store.base.number, through: store.token.number, condition: .always,
          isReversed: !command.reverse, changes: 5)
        try command.forEachEntry(of: &walk, store) {
          try command.write(copy($0), isFirst: $1, text)
        }
      }
      return .done
    }
    #expect(rendered.output == printed.output && printed.status == .done)
  }

  @Test(arguments: names)
  func diff(name: String) throws {
    let file = path(name)
    let printed = folder.run("diff", file, "base")
    let rendered = try folder.run { console in
      let text = TransactionText(console, limit: 200)
      try reading(file) { store in
        let showing = DiffCommand.showing(of: store)
        let (base, head) = (store.base.number, store.token.number)
        try store.version.forEachDifference(from: base, to: head) { difference in
          let shown = try copy(showing.shown(difference))
          try text.write(shown, indent: "")
          try text.writeProperties(of: shown, indent: "    ")
        }
      }
      return .done
    }
    #expect(rendered.output == printed.output && printed.status == .done)
  }

  @Test(arguments: names)
  func stat(name: String) throws {
    let file = path(name)
    let printed = folder.run("stat", file)
    let rendered = try folder.run { console in
      let space = try StatCommand.parse([file]).space().document
      try reading(file) { store in
        try StatText(console).write(file, copy(space), copy(SummaryDocument(store, at: file)))
      }
      return .done
    }
    #expect(rendered.output == printed.output && printed.status == .done)
  }

  @Test(arguments: FixtureRecipe.all.map(\.name))
  func verify(name: String) throws {
    let file = path(name)
    let printed = folder.run("verify", file)
    let rendered = try folder.run { console in
      var verifying = Verifying(file)
      let write = { try console.output.line(VerifyCommand.text(copy($0))) }
      try StoreFile.with(path: file) { try verifying.checkBytes(of: $0.file, write) }
      if verifying.document.isSound { try verifying.compareHistory(in: console.store, write) }
      try console.output.line(VerifyCommand.summary(copy(verifying.document)))
      return verifying.document.isSound ? .done : .foundProblems
    }
    #expect(rendered.output == printed.output)
  }

  @Test(arguments: names, [["--format", "text"], ["--format", "json"], ["--at", "head~1"]])
  func schema(name: String, options: [String]) throws {
    let file = path(name)
    let printed = folder.run(["schema", file] + options)
    guard printed.status == .done else { return }
    let rendered = try folder.run { console in
      let command = try SchemaCommand.parse([file] + options)
      try reading(file) { store in
        let number = try command.at.map { try console.number($0, in: store) }
        let document = try copy(command.document(of: store, at: number ?? store.token.number))
        if command.format == .json {
          try console.output.write(document.json)
        } else {
          try SchemaCommand.write(document, console)
        }
      }
      return .done
    }
    #expect(rendered.output == printed.output)
  }

  @Test(arguments: names)
  func plan(name: String) throws {
    let file = path(name)
    let entities = try reading(file) { $0.schema.liveEntities }
    for entity in entities {
      let property = entity.readableProperties.first { entity.attribute(named: $0.name) != nil }
      for condition in ["", property.map { "`\($0.name)` == nil" } ?? ""] {
        let words = [file, entity.name, "--explain", "--where", condition]
        let options = condition.isEmpty ? Array(words.prefix(3)) : words
        let printed = folder.run(["query"] + options)
        let rendered = try folder.run { console in
          let command = try QueryCommand.parse(options)
          try reading(file) { store in
            let snapshot = store.snapshot()
            let fetch = try command.request.fetch(
              entity, in: snapshot, zone: console.zone, now: console.now())
            let plan = try snapshot.explain(fetch)
            let document = command.document(ofPlan: plan, at: snapshot.number, of: store)
            try QueryCommand.write(copy(document), console)
          }
          return .done
        }
        #expect(rendered.output == printed.output && printed.status == .done, "\(options)")
      }
    }
  }

  @Test(arguments: names, [[], ["--svg", "-"]])
  func lifetimes(name: String, options: [String]) throws {
    let file = path(name)
    let printed = folder.run(["timeline", file, "--lifetimes"] + options)
    let rendered = try folder.run { console in
      let command = try TimelineCommand.parse([file, "--lifetimes"])
      try reading(file) { store in
        let snapshot = store.snapshot()
        let sheet = try command.request.sheet(
          of: snapshot, in: store, zone: console.zone, now: console.now())
        if options.isEmpty {
          var rows = TimelineRows(sheet)
          try TimelineText(sheet, console).write(rows: { try rows.next().map(copy) })
        } else {
          let document = try copy(command.document(sheet, at: snapshot.number, of: store))
          let picture = TimelinePicture(document, zone: sheet.zone, window: sheet.window)
          try console.output.write(picture.svg)
        }
      }
      return .done
    }
    #expect(rendered.output == printed.output && printed.status == .done)
  }

  /// Up to two objects of each entity, and up to two that were deleted.
  private func objects(of file: String) throws -> [String] {
    try reading(file) { store in
      var found: [String] = []
      for entity in store.schema.liveEntities {
        let all = try store.history(where: .touches(entity.name)).objectIDs()
          .filter { $0.entity == entity.number }
        let live = try store.snapshot().objects(of: entity.name).map(\.objectID)
        let gone = all.filter { !live.contains($0) }
        found += (live.prefix(2) + gone.prefix(2)).map { "\(entity.name)#\($0.row)" }
      }
      return found
    }
  }

  private func reading<R>(_ file: String, _ body: (Store) throws -> R) throws -> R {
    try Store.with(path: file, options: .readOnly, environment: folder.store, body)
  }
}
