import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// `annals query`: groups, chosen properties, and its forms of output, byte for byte.
@Suite struct QueryTests {
  /// Seven walks around the end of summer time in Berlin, two of them without a length.
  static func walks() throws -> CommandFolder {
    let folder = try CommandFolder()
    let walks = [
      ("a", "2019-10-26T21:59:59Z", "4", "Nara"), ("b", "2019-10-26T22:00:00Z", "7", "Nara"),
      ("c", "2019-10-27T22:59:59Z", nil, "\"Uji, \"\"old\"\"\""),
      ("d", "2019-10-27T23:00:00Z", "1", "Uji"),
      ("e", "2019-11-01T12:00:00Z", "2", "Uji"), ("f", "2020-01-01T12:00:00Z", nil, nil),
      ("g", "2019-10-27T10:00:00Z", "9", ""),
    ]
    folder.run("put", "@walks.annals", "Place/uji", "name=Uji")
    for (id, start, length, place) in walks {
      var arguments = [
        "put", "@walks.annals", "Walk/\(id)", "--new", "start:={\"$date\":\"\(start)\"}",
      ]
      if let length { arguments.append("length:=\(length)") }
      if let place { arguments.append("place=\(place)") }
      _ = folder.run(arguments)
    }
    return folder
  }

  @Test func groupsByDay() throws {
    let folder = try Self.walks()
    let days = folder.run(
      "query", "@walks.annals", "Walk", "--group-by", "day:start", "--format", "table")
    #expect(days.errors == "")
    #expect(
      days.output == """
        day:start   count
        2019-10-26  1
        2019-10-27  3
        2019-10-28  1
        2019-11-01  1
        2020-01-01  1

        """)
    let weeks = folder.run(
      "query", "@walks.annals", "Walk", "--group-by", "week:start", "--sort", "-start", "--limit",
      "2", "--sum", "length", "--average", "length", "--maximum", "start", "--minimum", "place")
    #expect(weeks.errors == "")
    #expect(
      weeks.output == """
        {"week:start":"2020-W01","count":1,"sum(length)":null,"average(length)":null,\
        "minimum(place)":null,"maximum(start)":"2020-01-01T12:00:00Z"}
        {"week:start":"2019-W44","count":2,"sum(length)":3,"average(length)":1.5,\
        "minimum(place)":"Uji","maximum(start)":"2019-11-01T12:00:00Z"}

        """)
    let all = folder.run(
      "query", "@walks.annals", "Walk", "--where", "length > 1", "--sum", "length", "--format",
      "csv")
    #expect(all.output == "count,sum(length)\n4,22\n")
    let then = folder.run(
      "query", "@walks.annals", "Walk", "--group-by", "month:start", "--at", "3")
    #expect(then.output == #"{"month:start":"2019-10","count":2}"# + "\n")
  }

  @Test func groupsByValue() throws {
    let folder = try Self.walks()
    let places = folder.run(
      "query", "@walks.annals", "Walk", "--group-by", "place", "--format", "csv")
    #expect(
      places.output == """
        place,count
        ,1
        "",1
        \"""Uji, ""\""old""\""\""",1
        Nara,2
        Uji,2

        """)
  }

  @Test func chosenProperties() throws {
    let folder = try Self.walks()
    let run = folder.run(
      "query", "@walks.annals", "Walk", "--properties", "length,start", "--sort", "-length",
      "--limit", "2", "--format", "table")
    #expect(
      run.output == """
        length  start
        9       2019-10-27T10:00:00Z
        7       2019-10-26T22:00:00Z

        """)
    let lines = folder.run(
      "query", "@walks.annals", "Walk", "--properties", "length", "--where", "id IN {'c', 'd'}")
    #expect(lines.output == "{\"length\":null}\n{\"length\":1}\n")
    let table = folder.run(
      "query", "@walks.annals", "Walk", "--where", "id == 'd'", "--format", "csv")
    #expect(table.output == "id,start,length,place\nd,2019-10-27T23:00:00Z,1,Uji\n")
  }

  @Test func mistakesPointAtThemselves() throws {
    let folder = try Self.walks()
    let wrong = folder.run("query", "@walks.annals", "Walk", "--group-by", "day:begin")
    #expect(wrong.status == .usage)
    #expect(wrong.errors.hasPrefix("annals: --group-by, column 5: Walk has no property"))
    let number = folder.run("query", "@walks.annals", "Walk", "--group-by", "day:length")
    #expect(number.status == .couldNotRun)
    #expect(
      number.errors == "annals: nothing but dates and days is grouped by day: length.\n")
    let both = folder.run("query", "@walks.annals", "Walk", "--group-by", "place", "--count")
    #expect(both.status == .usage)
  }

  @Test func indexesAreAddedListedAndDropped() throws {
    let folder = try Self.walks()
    let plan = folder.run(
      "query", "@walks.annals", "Walk", "--where", "place == 'Uji' AND length > 1", "--sort",
      "-start", "--explain")
    #expect(
      plan.output == """
        reads all 7 objects
        each is asked: place == "Uji" AND length > 1
        then put in order
        not by index `id`: it neither narrows this query nor has its order
        an index of `place,length` would help: annals index @walks.annals add Walk \
        place-length -- place,length

        """)
    let added = folder.run(
      "index", "@walks.annals", "add", "Walk", "newest", "--author", "Ann", "--", "-start,length")
    #expect(added.errors == "" && added.output == "transaction 9\n")
    let some = folder.run(
      "index", "@walks.annals", "add", "Walk", "long walks", "--where", "length > 2", "--",
      "length NILS LAST")
    #expect(some.errors == "" && some.output == "transaction 10\n")
    #expect(
      folder.run("index", "@walks.annals").output
        == folder.run("index", "@walks.annals", "list").output)
    #expect(
      folder.run("index", "@walks.annals", "list", "Walk").output == """
        entity  index       keys                               unique  entries  built
        Walk    id          id                                 yes     7        yes
        Walk    newest      -start,length                      no      7        yes
        Walk    long walks  length NILS LAST where length > 2  no      3        yes

        """)
    let log = folder.run("show", "@walks.annals", "9").output
    #expect(log.contains("Ann"), "\(log)")
    let again = folder.run("index", "@walks.annals", "add", "Walk", "newest", "--", "start")
    #expect(again.errors == "annals: Walk has an index `newest`; drop it first\n")
    let served = folder.run(
      "query", "@walks.annals", "Walk", "--group-by", "day:start", "--explain")
    #expect(served.output == "counts groups by index `newest`: 7 of 7 objects\n")
    #expect(folder.run("index", "@walks.annals", "drop", "Walk", "newest").status == .done)
    let gone = folder.run("index", "@walks.annals", "drop", "Walk", "newest")
    #expect(
      gone.errors == "annals: Walk has no index `newest`; it has `long walks`\n")
    let place = folder.run("index", "@walks.annals", "add", "Walk", "x", "--", "place[c]")
    #expect(place.status == .usage)
    #expect(folder.run("index", "@walks.annals", "add", "Walk").status == .usage)
    #expect(folder.run("verify", "@walks.annals").status == .done)
  }

  @Test func boxIndexesAreAddedListedAndServe() throws {
    let folder = try Self.walks()
    let query = [
      "query", "@walks.annals", "Walk", "--where",
      "length > 1 AND length < 9 AND start > 2019-10-26 AND start < 2019-11-02", "--explain",
    ]
    let command = "annals index @walks.annals add Walk start-length --box -- start,length"
    #expect(
      folder.run(query).output.hasSuffix(
        "\na box index of `start,length` would help: \(command)\n"))
    let added = folder.run(
      "index", "@walks.annals", "add", "Walk", "b", "--box", "--", "start,length")
    #expect(added.errors == "" && added.output == "transaction 9\n")
    #expect(
      folder.run("index", "@walks.annals", "list", "Walk").output == """
        entity  index  keys                 unique  entries  built
        Walk    id     id                   yes     7        yes
        Walk    b      box of start,length  no      5        yes

        """)
    #expect(!folder.run(query).output.contains("would help"))
    let ids = folder.run(query.dropLast() + ["--properties", "id", "--format", "csv"])
    #expect(ids.output == "id\na\nb\ne\n")
    let schema = folder.schema("@walks.annals")
    #expect(schema.contains("\"box\": true") || schema.contains("\"box\":true"))
    for wrong in [
      ["--box", "--unique", "--", "start,length"], ["--box", "--", "place,start"],
      ["--box", "--", "start"], ["--box", "--", "-start,length"],
    ] {
      #expect(
        folder.run(["index", "@walks.annals", "add", "Walk", "x"] + wrong).status != .done,
        "\(wrong)")
    }
    // Another value would make the attribute one of any type.
    let text = folder.run("put", "@walks.annals", "Walk/a", "--widen", "length:=true")
    #expect(text.status != .done, "\(text.output)")
    #expect(folder.run("verify", "@walks.annals").status == .done)
  }
}
