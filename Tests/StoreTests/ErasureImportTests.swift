import Annals
import AnnalsExchange
import AnnalsModel
import Testing

/// What a line of an import says of an erasure.
@Suite struct ErasureImportTests {
  /// What is no erasure, or speaks of what is not there, stays metadata.
  @Test(arguments: [
    #"{"reason":"","objects":[{"entity":"E","row":1}]}"#, #"{"reason":"r","objects":[]}"#,
    #"{"reason":"r"}"#, #"{"reason":"r","objects":[{"entity":"F","row":1}]}"#,
    #"{"reason":"r","objects":[{"entity":"E","row":0}]}"#,
    #"{"reason":"r","objects":[{"entity":"E","row":1099511627777}]}"#,
    #"{"reason":"r","objects":[{"entity":"E","row":1},{"entity":"E","row":1}]}"#,
    #"{"reason":"r","objects":[{"entity":"E","row":1,"properties":[]}]}"#,
    #"{"reason":"r","objects":[{"entity":"E","row":1,"properties":["b"]}]}"#,
    #"{"reason":"r","objects":[{"entity":"E","row":1,"properties":["a","a"]}]}"#,
    #"{"reason":"r","objects":[{"entity":"E","row":1,"more":2}]}"#, #""all""#, "[1]",
  ]) func whatIsNoErasureStaysMetadata(erased: String) throws {
    let insert = #""changes":[{"op":"insert","entity":"E","id":"i","set":{"a":1}}]"#
    func store(_ member: String, number: Int = 1) throws -> Store {
      let text = "{\"n\":\(number),\"erased\":\(member),\(insert)}\n"
      let reading = HistoryImport(
        MemorySource(Array(text.utf8)), into: memoryFile(), options: .deferred,
        environment: .fixed(seed: 2))
      while try reading.next() {}
      return try #require(reading.store)
    }
    let copy = try store(erased)
    #expect(try copy.transaction(1).erasure == nil)
    #expect(try copy.transaction(1).metadata["erased"] != nil)
    let right = #"{"reason":"r","objects":[{"entity":"E","row":1,"properties":["a","id"]}]}"#
    #expect(try store(right).transaction(1).erasure?.targets[0].properties == [1, 2])
    #expect(try store(right, number: 2).transaction(1).erasure == nil)
    let findings = try store(right).verifyHistory().map(\.message)
    #expect(findings.contains { $0.contains("was not carried out") }, "\(findings)")
  }
}
