import Annals
import AnnalsExchange
import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import Foundation

/// The parsers of text: imports, schemas, tokens, dates.
enum FuzzTexts {
  /// Imports the lines, plain or gzip, and reads the store that they make.
  static func history(_ bytes: UnsafeRawBufferPointer) {
    guard let store = imported(bytes) else { return }
    FuzzFile.read(store)
    do {
      let findings = try store.verify().filter { $0.severity == .error }
      precondition(findings.isEmpty, "an import made an unsound store: \(findings)")
    } catch {
      preconditionFailure("an import made a store that cannot be verified: \(error)")
    }
    try? store.close()
  }

  /// The store in memory that the lines make; nil if they make none.
  static func imported(_ bytes: UnsafeRawBufferPointer) -> Store? {
    let location = StoreLocation(fileSystem: MemoryFileSystem(), path: "/fuzz.annals")
    let source = UnpackingSource(MemorySource(bytes))
    let reading = HistoryImport(
      source, into: location, options: .deferred, environment: .fixed(seed: 1))
    do {
      while try reading.next() {}
    } catch is HistoryImport.Failure {
    } catch is AnnalsError {
    } catch {
      preconditionFailure("an import failed with \(error)")
    }
    return reading.store
  }

  static let historySeeds = [
    #"{"author":"Ann","timestamp":"2019-10-22T18:15:04.5Z","changes":[{"op":"insert","entity":"P","#
      + #""id":"a","set":{"b":true,"n":-5,"d":1.5e3,"s":"\u0001é\ud83d\ude00","x":null,"#
      + #""t":{"$date":"1903-12-17T10:35:00Z"},"l":{"$data":"AAEC"}}}]}"# + "\n"
      + #"{"changes":[{"op":"update","entity":"P","id":"a","set":{"n":"text"}}],"m":{"k":[1]}}"#
      + "\n" + #"{"changes":[{"op":"delete","entity":"P","id":"a"}]}"# + "\n",
    #"{"schema":{"entities":[{"name":"P","attributes":[{"name":"id","type":"string","#
      + #""optional":false,"unique":true},{"name":"j","type":"json"},{"name":"u","type":"uuid"}],"#
      + #""relationships":[{"name":"boss","to":"P"},"#
      + #"{"name":"all","to":"P","toMany":true,"ordered":true}]}]}}"# + "\n"
      + #"{"changes":[{"op":"insert","entity":"P","id":"a","set":{"j":"{\"a\":[1]}","#
      + #""u":"00112233-4455-6677-8899-AABBCCDDEEFF"}},{"op":"insert","entity":"P","id":"b","#
      + #""set":{"boss":"a","all":["a","b","a"]}}]}"# + "\n"
      + #"{"changes":[{"op":"update","entity":"P","id":"b","set":{"all":["b"],"boss":null}}]}"#,
    #"{"base":4,"timestamp":"2019-10-22T18:15:04Z","schema":{"entities":[{"name":"P","number":1,"#
      + #""attributes":[{"name":"id","number":1,"type":"string","optional":false,"unique":true},"#
      + #"{"name":"n","number":2,"type":"int64"}],"#
      + #""relationships":[{"name":"boss","number":3,"to":"P"}]}]},"#
      + #""changes":[{"op":"insert","entity":"P","id":"a","row":3,"set":{"n":1,"boss":"a"}}]}"#
      + "\n"
      + #"{"n":5,"changes":[{"op":"update","entity":"P","id":"a","set":{"n":2}}]}"# + "\n",
  ].map { ContiguousArray($0.utf8) }

  /// Parses a schema. What parses must survive writing and parsing.
  static func schema(_ bytes: UnsafeRawBufferPointer) {
    guard let schema = try? SchemaJSON.read(MemorySource(bytes)) else { return }
    let text = SchemaJSON.text(schema)
    guard let again = try? SchemaJSON.read(MemorySource(text.utf8)) else {
      preconditionFailure("a schema that cannot be read when written again: \(text)")
    }
    precondition(again == schema, "a schema that reads otherwise when written again")
    guard let store = try? Store(.memory, schema: schema, environment: .fixed()) else { return }
    precondition((try? store.verify()) != nil, "a schema makes a store that cannot be verified")
  }

  static let schemaSeeds: [ContiguousArray<UInt8>] = {
    let schema = Schema {
      Entity("Post", displayName: "title") {
        Attribute("id", .uuid, isOptional: false, isUnique: true)
        Attribute("title", .string, validation: Validation(maximumLength: 9, oneOf: ["a", "b"]))
        Attribute("price", .decimal, default: .decimal(RawDecimal("12.5") ?? .zero))
        Attribute("due", .day, validation: Validation(minimum: .day(.earliest)))
        Attribute("n", .int16, default: 2, validation: Validation(minimum: -3, maximum: 3))
        Relationship("tags", to: "Post", isToMany: true)
        IndexDescription("both", ["title", "n"], isUnique: true)
      }
    }
    return [
      ContiguousArray(SchemaJSON.text(schema).utf8), SchemaJSON.line(schema),
      ContiguousArray(
        #"{"entities":[{"name":"A","attributes":[{"name":"d","type":"date"}]}]}"#.utf8),
    ]
  }()

  /// Parses tokens, dates, UUIDs and JSON. What parses must survive printing and parsing.
  static func text(_ bytes: UnsafeRawBufferPointer) {
    _ = JSONText.firstError(in: bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    if let token = Token(text) {
      precondition(Token(token.description) == token, "a token that reads otherwise")
    }
    if let time = Timestamp(text) {
      precondition(Timestamp(time.description) == time, "a date that reads otherwise")
      _ = Timestamp(Date(time))
    }
    if let uuid = RawUUID(text) {
      precondition(RawUUID(uuid.description) == uuid, "a UUID that reads otherwise")
    }
  }

  static let textSeeds = [
    "1234@6F9619FF-8B86-D011-B42D-00C04FC964FF", "2019-10-22T18:15:04.123456Z",
    "-9999-01-01T00:00:00+14:00", "[1,2.5e-3,{\"a\":\"\\u00e9\\n\"},null,true]",
    "6F9619FF-8B86-D011-B42D-00C04FC964FF", String(repeating: "[", count: 300),
    Token(store: RawUUID(high: 1, low: 2), number: 3, opening: 4).description,
  ].map { ContiguousArray($0.utf8) }

  static func gzip(_ bytes: UnsafeRawBufferPointer) {
    let source = UnpackingSource(MemorySource(bytes), bufferSize: 16)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { buffer.deallocate() }
    var total = 0
    while total < 8 << 20, let count = try? source.read(into: buffer), count > 0 { total += count }
  }

  static let gzipSeeds: [ContiguousArray<UInt8>] = [
    [31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 75, 76, 74, 6, 0, 194, 65, 36, 53, 3, 0, 0, 0],
    [
      31, 139, 8, 8, 0, 0, 0, 0, 0, 3, 97, 0, 75, 4, 0, 67, 190, 183, 232, 1, 0, 0, 0, 31, 139, 8,
      0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ],
  ]
}
