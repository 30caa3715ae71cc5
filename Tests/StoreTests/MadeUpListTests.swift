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

  /// A delete behind the gap mentions no list: it was empty by then, and the edits before it tell
  /// the rest, whatever the list was before the gap.
  @Test func aListThatIsEmptyBehindItsEditsIsProven() throws {
    let old = (1...3).map { ObjectReference(entity: 1, row: $0) }
    // Rows 7 at 0, then nothing: the edits say that 7 was put in and taken out again.
    var inference = ListInference()
    for (removed, inserted) in [([], [0]), ([0], [])] as [([UInt32], [UInt32])] {
      var arena: ContiguousArray<UInt8> = []
      func cell(_ positions: [UInt32]) -> ValueCell {
        let start = arena.count
        for position in positions {
          withUnsafeBytes(of: position.littleEndian) { arena.append(contentsOf: $0) }
          ObjectReference(entity: 1, row: 7).append(to: &arena)
        }
        return ValueCell(
          tag: .objects, bits: UInt64(start), length: UInt32(arena.count - start))
      }
      let change = PropertyChange(
        property: 1, before: cell(removed), after: cell(inserted), isEdits: true)
      arena.withUnsafeBytes { inference.add(change, in: $0) }
    }
    inference.endEmpty()
    let list = try #require(inference.list(old: old, destination: 1, limit: 0))
    #expect(list.references.isEmpty && list.isProven)
  }
}
