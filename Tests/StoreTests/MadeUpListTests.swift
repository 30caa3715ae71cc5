import AnnalsModel
import Testing

@testable import AnnalsSalvage

/// Lists of which a salvage knows edits alone, and must make up the rest.
@Suite struct MadeUpListTests {
  /// An insertion at a position, as a record has it.
  private func inference(insertingAt position: UInt32) -> ListInference {
    var arena: ContiguousArray<UInt8> = []
    withUnsafeBytes(of: position.littleEndian) { arena.append(contentsOf: $0) }
    ObjectReference(entity: 1, row: 7).append(to: &arena)
    let cell = ValueCell(tag: .objects, bits: 0, length: 16)
    var inference = ListInference()
    arena.withUnsafeBytes {
      inference.add(
        PropertyChange(
          property: 1, before: ValueCell(tag: .objects, bits: 0, length: 0), after: cell,
          isEdits: true), in: $0)
    }
    return inference
  }

  /// An edit of some bytes speaks of the millionth place of a list: as many references were made up
  /// for each that did.
  @Test func noMoreIsMadeUpThanMayBe() throws {
    let old = [ObjectReference(entity: 1, row: 1)]
    let inference = inference(insertingAt: 1_000)
    let list = try #require(inference.list(old: old, destination: 1, limit: 1_000))
    #expect(list.references.count == 1_000 && list.references.first == old[0] && !list.isProven)
    #expect(inference.list(old: old, destination: 1, limit: 999) == nil)
  }

  /// What fits the list from before the gap needs nothing made up.
  @Test func aListThatFitsIsKept() {
    let old = (1...3).map { ObjectReference(entity: 1, row: $0) }
    let list = inference(insertingAt: 3).list(old: old, destination: 1, limit: 0)
    #expect(list?.references == old && list?.isProven == false)
  }
}
