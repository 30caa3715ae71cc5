import AnnalsFormat
import AnnalsModel
import Testing

@testable import AnnalsState

/// Edits of to-many lists: how few there are, and which are refused.
@Suite struct ListEditTests {
  private func references(_ rows: [Int64]) -> [ObjectReference] {
    rows.map { ObjectReference(entity: 1, row: $0) }
  }

  private func bytes(_ rows: [Int64]) -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    for reference in references(rows) { reference.append(to: &bytes) }
    return bytes
  }

  private func edits(_ edits: [(position: Int, row: Int64)]) -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    for edit in edits {
      ListEdit.append(
        position: edit.position, reference: ObjectReference(entity: 1, row: edit.row), to: &bytes)
    }
    return bytes
  }

  /// The list as rows after these edits; nil if they are refused.
  private func edited(
    _ list: [Int64], removing: [(position: Int, row: Int64)],
    inserting: [(position: Int, row: Int64)]
  ) -> [Int64]? {
    bytes(list).withUnsafeBytes { list in
      edits(removing).withUnsafeBytes { removals in
        edits(inserting).withUnsafeBytes { insertions in
          applyEdits(to: list, removing: removals, inserting: insertions)
        }
      }
    }?.withUnsafeBytes { ObjectReference.list(in: $0).map(\.row) }
  }

  @Test(
    arguments: [
      ([1, 2, 3, 4, 5], [1, 4, 2, 3, 5], 1, 1),
      ([1, 2, 3, 4, 5], [5, 1, 2, 3, 4], 1, 1),
      ([1, 2, 3], [3, 2, 1], 2, 2),
      ([1, 2, 3, 4, 5, 6], [2, 9, 4, 6], 3, 1),
      ([1, 1, 2], [1, 2, 1], 1, 1),
      ([], [1, 2], 0, 2),
      ([1, 2], [], 2, 0),
      ([1, 2], [1, 2], 0, 0),
    ] as [([Int64], [Int64], Int, Int)])
  func noMoreIsEditedThanHasChanged(
    _ old: [Int64], _ new: [Int64], _ removals: Int, _ insertions: Int
  ) {
    var arena: ContiguousArray<UInt8> = []
    let counts = appendEdits(from: references(old), to: references(new), arena: &arena)
    #expect(counts.removals == removals && counts.insertions == insertions)
    let width = PropertyChange.editByteCount
    #expect(arena.count == (removals + insertions) * width)
    let result = bytes(old).withUnsafeBytes { list in
      arena.withUnsafeBytes { arena in
        applyEdits(
          to: list, removing: UnsafeRawBufferPointer(rebasing: arena[..<(removals * width)]),
          inserting: UnsafeRawBufferPointer(rebasing: arena[(removals * width)...]))
      }
    }
    #expect(result == bytes(new))
  }

  @Test func editsThatDoNotFitAreRefused() {
    #expect(edited([1, 2], removing: [], inserting: [(2, 3)]) == [1, 2, 3])
    #expect(edited([1, 2], removing: [], inserting: [(3, 3)]) == nil, "behind the end")
    #expect(edited([1, 2], removing: [], inserting: [(1, 3), (1, 4)]) == nil, "not rising")
    #expect(edited([1, 2], removing: [(0, 2)], inserting: []) == nil, "another reference")
    #expect(edited([1, 2], removing: [(2, 1)], inserting: []) == nil, "nothing there")
    #expect(edited([1, 2], removing: [(1, 2), (0, 1)], inserting: []) == nil, "falling")
    #expect(edited([], removing: [(0, 1)], inserting: [(0, 1)]) == nil, "an empty list")
    #expect(edited([1, 2], removing: [(0, 1), (1, 2)], inserting: [(0, 3)]) == [3])
    // As many go as come, at a place that the list does not have any more.
    #expect(edited([1, 2], removing: [(1, 2)], inserting: [(2, 3)]) == nil, "past the new end")
  }
}
