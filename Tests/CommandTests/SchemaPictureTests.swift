import Annals
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// A schema as text and as a picture.
@Suite struct SchemaPictureTests {
  private static let schema = Schema {
    Entity("Timeline", displayName: "name") { Attribute("name", .string, isUnique: true) }
    Entity("Tag") {
      Attribute("name", .string)
      Relationship("broader", to: "Tag", inverse: "narrower")
    }
    Entity("Event") {
      Attribute("title", .string, isOptional: false)
      Relationship("timeline", to: "Timeline", onDelete: .cascade, inverse: "events")
      Relationship("tags", to: "Tag", isToMany: true)
      Relationship("place", to: "Place<&>")
    }
    Entity("Place<&>") { Attribute("name", .string) }
    Entity("Setting") { Attribute("value", .any) }
  }

  private func folder() throws -> CommandFolder {
    let folder = try CommandFolder()
    try Store(path: folder.file("s.annals"), schema: Self.schema).close()
    return folder
  }

  @Test func asText() throws {
    let run = try folder().run("schema", "@s.annals")
    #expect(
      run.output == """
        Timeline
          name: string, unique
        Tag
          name: string
          broader: Tag, on delete nullify, inverse narrower
        Event
          title: string, required
          timeline: Timeline, on delete cascade, inverse events
          tags: any Tag, on delete nullify
          place: Place<&>, on delete nullify
        Place<&>
          name: string
        Setting
          value: any

        """)
  }

  @Test func asAPicture() throws {
    let folder = try folder()
    let run = folder.run("schema", "@s.annals", "--svg", "@s.svg")
    #expect(run.output == "@s.svg: 5 entities, 4 relationships\n")
    let picture = folder.run("schema", "@s.annals", "--svg", "-").output
    #expect(try String(contentsOfFile: folder.file("s.svg"), encoding: .utf8) == picture)
    #expect(picture.contains(">events</text>") && picture.contains(">narrower</text>"))
    #expect(picture.contains(">Place&lt;&amp;&gt;</text>") && !picture.contains("Place<&>"))
    #expect(picture.count(of: "<polygon") == 4 && picture.count(of: "<path") == 4)
    #expect(folder.run("schema", "@s.annals", "--svg", "@s.svg").status == .couldNotRun)
    #expect(folder.run("schema", "@s.annals", "--svg", "@s.svg", "--force").status == .done)
    #expect(
      folder.run("schema", "@s.annals", "--svg", "-", "--format", "json").status == .usage)
    #expect(folder.run("schema", "@s.annals", "--force").status == .usage)
  }

  @Test func nothingOverlapsAndAllArrowsAreBetweenTheirBoxes() throws {
    let layout = SchemaLayout(try Store(.memory, schema: Self.schema).schema)
    for (index, box) in layout.boxes.enumerated() {
      for other in layout.boxes[..<index] {
        let isBeside = box.x + box.width < other.x || other.x + other.width < box.x
        let isBelow = box.y + box.height < other.y || other.y + other.height < box.y
        #expect(isBeside || isBelow)
      }
      for arrow in box.arrows where !arrow.isLoop {
        let target = layout.boxes[arrow.target]
        #expect(arrow.start.x == box.x + box.width && arrow.end.x == target.x)
        #expect(arrow.start.x < arrow.end.x)
        #expect(arrow.end.y > target.y && arrow.end.y < target.y + target.height)
      }
    }
  }

  @Test func anEmptySchemaIsDrawn() {
    #expect(SchemaPicture(Schema()).notes == ["0 entities", "0 relationships"])
  }

  // MARK: The layout

  private func check(_ graph: LayeredGraph) {
    for column in graph.columns {
      for (above, below) in zip(column, column.dropFirst()) {
        let (a, b) = (graph.nodes[above], graph.nodes[below])
        #expect(a.y + a.height / 2 < b.y - b.height / 2)
      }
    }
    for edge in graph.edges where edge.from != edge.to {
      let path =
        [edge.isReversed ? edge.to : edge.from] + edge.bends
        + [edge.isReversed ? edge.from : edge.to]
      let columns = path.map { graph.nodes[$0].column }
      #expect(zip(columns, columns.dropFirst()).allSatisfy { $0 + 1 == $1 })
    }
    #expect(abs(graph.nodes.map { $0.y - $0.height / 2 }.min() ?? 0) < 0.001)
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>) func treesHaveNoCrossings(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let count = 2 + random.below(30)
    let edges = (1..<count).map { (from: random.below($0), to: $0) }
    let graph = LayeredGraph(
      heights: (0..<count).map { _ in Double(20 + random.below(200)) }, edges: edges)
    check(graph)
    #expect(graph.crossingCount == 0, "seed \(seed)")
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>) func anyGraphIsLaidOut(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let count = 1 + random.below(40)
    let edges = (0..<random.below(60)).map { _ in
      (from: random.below(count), to: random.below(count))
    }
    check(LayeredGraph(heights: (0..<count).map { _ in 50 }, edges: edges))
  }

  @Test func aLargeSchemaIsLaidOut() {
    let edges = (1..<400).map { (from: $0, to: ($0 * 7) % 97) }
    check(LayeredGraph(heights: (0..<400).map { _ in 80 }, edges: edges))
  }
}

extension String {
  fileprivate func count(of part: String) -> Int { split(separator: part).count - 1 }
}
