import AnnalsReplication
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// The reader in Tests/SecondReader, written from FORMAT.md alone, finds the states that the
/// command finds.
@Suite(.enabled(if: SecondReader.isHere, "python3 is missing; the second reader was not run"))
struct SecondReaderTests {
  @Test func itReadsEveryGoodFixture() throws {
    let folder = try CommandFolder()
    var compared = 0
    for (index, fixture) in SecondReader.fixtures.enumerated() {
      let name = "\(index).annals"
      try FileManager.default.copyItem(atPath: fixture, toPath: folder.file(name))
      guard folder.run("verify", "@\(name)").status == .done else { continue }
      try SecondReader.compare(name, in: folder)
      compared += 1
    }
    #expect(compared > 0)
  }

  /// Every frame kind, kind of value, contents of a chunk, layout of a run, flag and tag of
  /// FORMAT.md is in one good fixture at least: what is not, no stranger's reader is tried on.
  @Test func theFixturesHaveAllThatTheFormatHas() throws {
    let good = FixtureRecipe.all.filter { [.clean, .readOnly].contains($0.outcome) }
    let run = try SecondReader.met(good.map { $0.file(".annals").path })
    #expect(run.status == 0, "\(run.errors)")
    var met: [String: [Int]] = [:]
    for line in run.output.split(separator: "\n") where !line.hasPrefix("ok: ") {
      let words = line.split(separator: " ")
      guard let number = words.last.flatMap({ Int($0) }) else { continue }
      met[words.dropLast().joined(separator: " "), default: []].append(number)
    }
    let large = [4, 7, 8, 9].map { $0 | 16 }
    let all: [String: [Int]] = [
      "frame of kind": [1, 2, 3, 4, 5, 7, 8, 11, 14], "frame flag": [1, 2],
      "required feature": [1, 2], "optional feature": [32, 33, 34, 35, 36, 37, 38],
      "value of tag": Array(0...12) + large + [11 | 32, 64, 65],
      "transaction tag": Array(1...5), "undo kind": [1, 2],
      "directory tag": [2, 4, 5, 6, 8, 10, 12],
      "directory flag": [1, 2],
      "entity flag": [1, 2, 4, 8], "attribute flag": [1, 2, 4, 8, 16, 32, 64],
      "attribute type": Array(1...9) + Array(13...17), "validation flag": [1, 2, 4, 8, 16],
      "relationship flag": [1, 2, 4, 8], "index flag": [1, 2, 4, 8],
      "flag of an index's property": [1, 2], "comparison": Array(1...6),
      "details flag": [1, 2, 4, 8, 16, 32], "change of kind": [0, 1, 2], "gap flag": [1, 2],
      "section of compression": [0, 1], "integer run of layout": [0, 1, 2, 3],
      "fixed run of layout": [0, 2], "byte string run of layout": [0, 1, 2, 3],
      "distinct byte string run of layout": [0, 1, 3],
      "pattern's byte string run of layout": [0, 1],
      "run of tag": Array(0...12) + large + [11 | 32, 64, 65], "column of several tags": [255],
      "block of form": [0, 1], "reused value": [0, 1, 2], "chunk of table": Array(0...4),
      "chunk of contents": Array(1...6),
      "rows of form": [0, 1, 2], "column chunk of kind": Array(1...11) + [13, 16, 17],
      "doubles of form": [0, 1], "bytes of kind": Array(1...12) + [16, 17],
      "large bytes of kind": [4, 7, 8, 9],
      "derivation": Array(1...7), "consumer flag": [1, 2, 4], "retention flag": [1, 2],
    ]
    for name in Set(met.keys).union(all.keys).sorted() {
      let missing = Set(all[name] ?? []).subtracting(met[name] ?? []).sorted()
      #expect(missing.isEmpty, "no fixture has \(name) \(missing)")
      let unlisted = Set(met[name] ?? []).subtracting(all[name] ?? []).sorted()
      #expect(unlisted.isEmpty, "the format has \(name) \(unlisted), which is not listed here")
    }
  }

  /// What is crafted, with right checksums, it refuses for what is wrong with it.
  @Test(arguments: [
    ("damaged-chunk-named-twice", "named twice"),
    ("damaged-overlapping-pieces", "a piece of large value"),
    ("damaged-decimal", "a decimal of other pairs"),
    ("damaged-number", "transaction 9 where 3 is due"), ("newer-record", "unknown flags"),
  ])
  func itRefusesWhatIsCrafted(name: String, reason: String) throws {
    let fixture = try #require(SecondReader.fixtures.first { $0.hasSuffix("/\(name).annals") })
    let check = try SecondReader.check(fixture)
    #expect(check.status == 1 && check.errors.contains(reason), "\(check)")
  }

  @Test func itReadsWhatTheCommandWrites() throws {
    let folder = try CommandFolder()
    try folder.write(SecondReader.history, to: "h.jsonl")
    #expect(folder.run("import", "@s.annals", "@h.jsonl").status == .done)
    try SecondReader.compare("s.annals", in: folder)
    #expect(folder.run("put", "@s.annals", "Person/eve", "i=8", "boss=bob").status == .done)
    #expect(folder.run("delete", "@s.annals", "Person/ann").status == .done)
    try SecondReader.compare("s.annals", in: folder)
    #expect(folder.run("compact", "@s.annals").status == .done)
    try SecondReader.compare("s.annals", in: folder)
    #expect(folder.run("prune", "@s.annals", "--yes", "--before", "3").status == .done)
    try SecondReader.compare("s.annals", in: folder)
    for what in [["Person/bob"], ["Person/eve", "--property", "boss", "--property", "id"]] {
      let run = folder.run(["erase", "@s.annals", "--yes", "--reason", "asked"] + what)
      #expect(run.status == .done, "\(run)")
      try SecondReader.compare("s.annals", in: folder)
    }
  }

  /// Its checks of what each change says was before prove the changes of gaps right.
  @Test func itReadsWhatSalvageWrites() throws {
    let folder = try CommandFolder()
    try folder.write(SecondReader.history, to: "h.jsonl")
    folder.run("import", "@s.annals", "@h.jsonl")
    folder.run("put", "@s.annals", "Person/eve", "i=8", "boss=bob")
    folder.run("put", "@s.annals", "Person/bob", "s=short")
    folder.run("delete", "@s.annals", "Person/ann")
    folder.run("delete", "@s.annals", "Person/eve")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("s.annals")))
    let dump = folder.run("dump", "@s.annals", "--format", "jsonl").output
    var salvaged = 0
    for line in dump.split(separator: "\n") where !line.contains(#""header""#) {
      guard let match = line.firstMatch(of: /"offset":(\d+),"length":(\d+)/),
        let offset = Int(match.1), let length = Int(match.2), offset >= 12_288
      else { continue }
      var damaged = bytes
      damaged[offset + min(40, length - 9)] ^= 1
      try damaged.write(to: URL(fileURLWithPath: folder.file("bad.annals")))
      let name = "saved-\(offset).annals"
      #expect(folder.run("salvage", "@bad.annals", "@\(name)").status != .couldNotRun)
      try SecondReader.compare(name, in: folder)
      salvaged += 1
    }
    #expect(salvaged > 8)
  }
}

/// Runs the second reader.
enum SecondReader {
  static let isHere = (try? python(["--version"]).status) == 0

  /// Where Python keeps what it has made of the reader's text, which takes longer than most files.
  private static let cache = packageFolder.appending(path: ".build/second-reader").path

  /// The paths of all stores in Fixtures.
  static var fixtures: [String] {
    let path = packageFolder.appending(path: "Fixtures/version-1").path
    let names = (FileManager.default.enumerator(atPath: path)?.allObjects ?? []) as? [String] ?? []
    return names.filter { $0.hasSuffix(".annals") }.sorted().map { path + "/" + $0 }
  }

  /// A schema with every type of attribute and both kinds of relationship, and a history.
  static let history: String = {
    let types = ["bool", "int16", "int32", "int64", "double", "string", "date", "uuid", "url"]
    let attributes = zip("bcidfsturlxjpy", types + ["data", "json", "any", "decimal", "day"]).map {
      #"{"name":"\#($0)","type":"\#($1)"}"#
    }
    let set =
      #""b":true,"c":-5,"i":70000,"d":9007199254740993,"f":-0.5,"s":"\u0001é","#
      + #""t":"2019-10-22T18:15:04.5Z","u":"00112233-4455-6677-8899-AABBCCDDEEFF","#
      + #""r":"https://example.org","l":"AAEC","x":"{\"a\":[1]}","j":1.25,"p":12.50,"#
      + #""y":"2019-10-06""#
    let long = String(repeating: "0123456789abcdef", count: 70_000)
    let lines = [
      #"{"schema":{"entities":[{"name":"Person","attributes":[{"name":"id","type":"string","#
        + #""optional":false,"unique":true},\#(attributes.joined(separator: ","))],"#
        + #""relationships":[{"name":"boss","to":"Person"},"#
        + #"{"name":"friends","to":"Person","toMany":true,"ordered":true}]}]}}"#,
      change("insert", "ann", set),
      change("insert", "bob", #""s":"\#(long)","j":"text","boss":"ann""#),
      change(
        "insert", "eve",
        #""friends":["ann","bob","ann"],"j":{"$decimal":"-0.1"},"p":99999999999999999999.000001"#),
      change("update", "eve", #""friends":["bob","ann","bob"],"j":null"#),
      change("update", "bob", #""s":"\#(long.prefix(5000))""#),
    ]
    return lines.joined(separator: "\n") + "\n"
  }()

  static func change(_ kind: String, _ id: String, _ set: String) -> String {
    #"{"author":"Ann","changes":[{"op":"\#(kind)","entity":"Person","id":"\#(id)","#
      + #""set":{\#(set)}}]}"#
  }

  /// Compares all states of a store with those that the command prints.
  static func compare(_ name: String, in folder: CommandFolder) throws {
    let found = try run([folder.file(name), "both"])
    #expect(found.status == 0, "\(found.errors)")
    // The first line is that of its check.
    for line in found.output.split(separator: "\n").dropFirst() {
      let words = line.split(separator: " ")
      let number = String(try #require(words.first))
      let expected = folder.run("state", "@\(name)", "--at", number)
      // What is known behind lost transactions is nobody's state.
      if expected.errors.contains("is lost: ") { continue }
      #expect(expected.status == .done)
      guard Digest(of: Array(expected.output.utf8)).description != words[1] else { continue }
      let state = try run([folder.file(name), "state", number])
      #expect(state.output == expected.output, "\(name) at \(number): \(state.errors)")
    }
  }

  /// What its `check` says of a file.
  static func check(_ path: String) throws -> (status: Int32, output: String, errors: String) {
    try run([path, "check"])
  }

  /// What it meets of the format in these files.
  static func met(_ paths: [String]) throws -> (status: Int32, output: String, errors: String) {
    try run([paths[0], "met"] + paths.dropFirst())
  }

  private static func run(
    _ arguments: [String]
  ) throws -> (status: Int32, output: String, errors: String) {
    let program = "import reader, sys; sys.exit(reader.main(sys.argv[1:]))"
    return try python(["-c", program] + arguments)
  }

  private static func python(
    _ arguments: [String]
  ) throws -> (status: Int32, output: String, errors: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3"] + arguments
    var environment = ProcessInfo.processInfo.environment
    environment["PYTHONPATH"] = packageFolder.appending(path: "Tests/SecondReader").path
    environment["PYTHONPYCACHEPREFIX"] = cache
    process.environment = environment
    let output = Pipe()
    process.standardOutput = output
    // A line at most, which the pipe holds.
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let reason = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (
      process.terminationStatus, String(decoding: text, as: UTF8.self),
      String(decoding: reason, as: UTF8.self)
    )
  }
}
