import AnnalsExchange
import AnnalsModel
import AnnalsStorage
import Testing

@testable import Annals

#if DEBUG
  /// A line with thousands of new properties or entities took nearly cubic time: 8,000 properties
  /// 50 s, since each went through all that were there, and copied them, several times over.
  @Suite struct WideSchemaTests {
    enum Kind: String, CaseIterable {
      case properties, entities, widened
    }

    /// A line of an import that needs so many definitions.
    private func line(_ kind: Kind, _ width: Int) -> String {
      func set(_ value: String) -> String {
        (0..<width).map { "\"p\($0)\":\(value)" }.joined(separator: ",")
      }
      let changes =
        switch kind {
        case .properties: [##"{"op":"insert","entity":"W","id":"w","set":{\##(set("1"))}}"##]
        case .widened:
          [##"{"op":"insert","entity":"W","id":"w","set":{\##(set("1"))}}"##]
            + [##"{"op":"insert","entity":"W","id":"v","set":{\##(set("true"))}}"##]
        case .entities:
          (0..<width).map {
            ##"{"op":"insert","entity":"E\##($0)","id":"w","set":{"a":1}}"##
          }
        }
      return ##"{"changes":[\##(changes.joined(separator: ","))]}"## + "\n"
    }

    /// How many definitions are gone through by each of the steps.
    private func work(_ kind: Kind, _ width: Int) throws -> [(step: String, count: Int)] {
      let files = MemoryFileSystem()
      let location = StoreLocation(fileSystem: files, path: "/wide.annals")
      let text = Array(line(kind, width).utf8)
      let environment = StoreEnvironment.fixed(seed: 1)
      var steps: [(step: String, count: Int)] = []
      let lines = HistoryImport(
        MemorySource(text), into: location, options: StoreOptions(), environment: environment)
      steps.append(("import", try DefinitionProbe.counting { while try lines.next() {} }))
      try lines.store?.close()
      var opened: Store?
      steps.append(
        (
          "open",
          try DefinitionProbe.counting {
            opened = try Store(
              location, creates: false, options: .readOnly, environment: environment)
          }
        ))
      let store = try #require(opened)
      let schema = store.schema
      let named = kind == .entities ? schema.entities.count : schema.entities[0].attributes.count
      #expect(named == (kind == .entities ? width : width + 1))
      steps.append(
        (
          "verify",
          try DefinitionProbe.counting {
            let findings = try store.verifyHistory()
            #expect(findings == [])
          }
        ))
      steps.append(
        (
          "state",
          try DefinitionProbe.counting {
            var state = CanonicalState(store.snapshot())
            try state.write { _ in }
          }
        ))
      steps.append(
        (
          "export",
          try DefinitionProbe.counting {
            var export = HistoryExport(store, after: 0, through: store.token.number)
            try export.write { _ in }
          }
        ))
      // A program with as wide a schema, which the store has, and which it lacks.
      let wanted = schema.stating(schema.liveEntities)
      steps.append(
        ("add nothing", try DefinitionProbe.counting { _ = try schema.adding(wanted) }))
      steps.append(
        ("add all", try DefinitionProbe.counting { _ = try Schema().adding(wanted) }))
      return steps
    }

    @Test(arguments: Kind.allCases)
    func twiceTheWidthIsTwiceTheWork(kind: Kind) throws {
      let once = try work(kind, 200)
      let twice = try work(kind, 400)
      for (small, large) in zip(once, twice) {
        // In proportion it is 2, with the square 4.
        #expect(
          large.count <= small.count * 5 / 2 && large.count < 400 * 200,
          "\(small.step) of \(kind): \(small.count), then \(large.count)")
      }
    }

    @Test func theCounterCounts() throws {
      let wide = Schema(entities: [
        Entity("W", attributes: (0..<50).map { Attribute("p\($0)", .int64) })
      ])
      let count = DefinitionProbe.counting {
        for _ in 0..<50 { _ = wide.entities[0].attribute(named: "p49") }
      }
      #expect(count == 2_500)
    }
  }
#endif
