import Annals
import AnnalsInspector
import AnnalsModel
import AnnalsTestSupport
import Testing

/// Documents about one state, compared with what the library says of it.
@Suite(.deadline) struct StateDocumentTests {
  private let world: InspectorWorld

  init() throws { world = try InspectorWorld() }

  @Test(arguments: [nil, "base", "1", "7", "30", "head~3"])
  func overview(at: String?) throws {
    let document = try world.ask(at.map { ["at": $0] } ?? [:]).overview()
    try world.reading { store in
      let snapshot = try store.snapshot(at: document.moment.number)
      #expect(document.head == store.token.number && document.base == 0)
      #expect(document.entities.map(\.name) == snapshot.schema.entities.map(\.name).sorted())
      for entity in document.entities {
        #expect(try entity.count == snapshot.count(of: entity.name))
      }
    }
  }

  /// Pages put together are the whole table, in the order of the query.
  @Test(arguments: [
    ["sort": "-rank,title", "at": "40"], ["where": "rank > 10 AND draft == true"], [:],
    ["where": "place.name == \"n3\" OR title BEGINSWITH \"t1\"", "sort": "when"],
  ])
  func table(parameters: [String: String]) throws {
    var parameters = parameters.merging(["entity": "Post", "limit": "7"]) { $1 }
    var (rows, total) = ([TableDocument.Row](), 1)
    while rows.count < total {
      parameters["offset"] = "\(rows.count)"
      let page = try world.ask(parameters).table()
      total = page.total
      rows += page.rows
      if page.rows.isEmpty { break }
    }
    try world.reading { store in
      let snapshot = try store.snapshot(at: Int(parameters["at"] ?? "") ?? store.token.number.int)
      var fetch = DynamicFetch("Post")
      if let text = parameters["where"] {
        fetch = fetch.where(try Condition(parsing: text, of: "Post", in: snapshot.schema))
      }
      if let sort = parameters["sort"] {
        fetch = fetch.sorted(by: try SortKey.keys(parsing: sort, of: "Post", in: snapshot.schema))
      }
      let objects = try snapshot.fetch(fetch)
      #expect(rows.map(\.object.row) == objects.map(\.objectID.row))
      let columns = try world.ask(["entity": "Post"]).table().columns.map(\.name)
      #expect(columns.prefix(2) == ["id", "title"])
      for (row, object) in zip(rows, objects) {
        let title = row.values[1]
        #expect(title.text == object["title"].plainText && title.isCut == nil)
        if case .object(let place) = object["place"] {
          let column = columns.firstIndex(of: "place") ?? 0
          let shown = row.values[column].object
          #expect(shown?.row == place.row)
          let name = try snapshot.object(place.id(in: snapshot))?["name"]
          #expect(shown?.label != nil && shown?.label == name?.plainText)
        }
      }
    }
  }

  @Test func aValueIsCutAndReadWhole() throws {
    let page = try world.ask(["entity": "Post", "where": "body != nil", "cut": "20"]).table()
    let row = try #require(page.rows.first)
    let column = try #require(page.columns.firstIndex { $0.name == "body" })
    #expect(row.values[column].text == "long long long long " && row.values[column].isCut == true)
    let whole = try world.ask(["object": row.object.id, "property": "body"]).value()
    #expect(Int64(whole.length) == row.values[column].length && whole.bytes.count == whole.length)
    let part = try world.ask(["object": row.object.id, "property": "body"])
      .value(from: 5, through: 13)
    #expect(String(decoding: part.bytes, as: UTF8.self) == "long long")
  }

  @Test func groupsCountEachObjectOnce() throws {
    let groups = try world.ask(["entity": "Post", "by": "title", "limit": "500"]).groups()
    try world.reading { store in
      var counts: [String: Int] = [:]
      for post in try store.snapshot().objects(of: "Post") {
        counts[post["title"].isNull ? "none" : post["title"].plainText, default: 0] += 1
      }
      #expect(
        Dictionary(uniqueKeysWithValues: groups.groups.map { ($0.text, $0.count) }) == counts)
      #expect(groups.groups.map(\.count) == groups.groups.map(\.count).sorted(by: >))
    }
    for group in groups.groups.prefix(3) {
      let filter = try #require(group.filter)
      #expect(try world.ask(["entity": "Post", "where": filter]).plan().total == group.count)
    }
    let months = try world.ask(["entity": "Post", "by": "month:when"]).groups()
    #expect(months.groups.reduce(0) { $0 + $1.count } == months.total)
  }

  /// Who refers to an object, counted by hand, with and without a reference index.
  @Test func referrers() throws {
    try world.reading { store in
      let snapshot = store.snapshot()
      for place in try snapshot.objects(of: "Place").prefix(8) {
        let target = ObjectReference(place.objectID)
        let posts = try snapshot.objects(of: "Post")
        let own = posts.filter { $0["place"] == .object(target) }.map(\.objectID.row)
        let tagged = posts.filter { $0["tags"].targets.contains(target) }.map(\.objectID.row)
        let document = try world.ask(["object": "Place#\(target.row)"]).object()
        #expect(document.referrers.map(\.count) == [own.count, tagged.count])
        let listed = try world.ask(["object": "Place#\(target.row)", "property": "Post.tags"])
          .referrers()
        #expect(listed.objects.map(\.row) == tagged && listed.total == tagged.count)
      }
    }
  }

  @Test func anObjectHasItsBlame() throws {
    try world.reading { store in
      for post in try store.snapshot().objects(of: "Post").prefix(10) {
        let document = try world.ask(["object": "Post#\(post.objectID.row)"]).object()
        #expect(document.exists && document.entity == "Post")
        let lines = try store.blame(post.objectID)
        for line in lines {
          let member = document.properties.first { $0.name == line.property }
          #expect(member?.setBy?.number == line.transaction?.number)
          #expect(member?.setBy?.author == line.transaction?.author)
        }
        let blame = try world.ask(["object": "Post#\(post.objectID.row)"]).blame()
        #expect(blame.lines.map(\.property) == lines.map(\.property))
        #expect(blame.lines.map(\.setBy?.number) == lines.map { $0.transaction?.number })
      }
    }
  }

  @Test func mistakesHaveTheirColumn() throws {
    let fault = #expect(throws: RequestFault.self) {
      try world.ask(["entity": "Post", "where": "rank > AND"]).table()
    }
    #expect(fault?.parameter == "where" && fault?.column == 8 && fault?.kind == .usage)
    let unknown = #expect(throws: RequestFault.self) { try world.ask(["entity": "Pst"]).table() }
    #expect(unknown?.message.contains("Post") == true && unknown?.kind == .notFound)
    #expect(throws: RequestFault.self) { try world.ask(["at": "someday"]).overview() }
  }
}

extension Int64 {
  /// The same number.
  fileprivate var int: Int { Int(self) }
}
