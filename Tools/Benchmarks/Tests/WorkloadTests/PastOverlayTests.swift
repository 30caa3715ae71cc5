import Testing
import Workload

/// Undoing the newest changes leads to the state before them, whatever was done since.
@Suite struct PastOverlayTests {
  private static let workload = Workload(posts: 300, operations: 400)

  @Test(arguments: [0, 1, 200, 399, 400])
  func leadsToTheStateBefore(count: Int) throws {
    let workload = Self.workload
    let states = workload.operations.indices.map { WorkloadModel(workload, after: $0) }
    var overlay = PastOverlay()
    for index in (count..<workload.operations.count).reversed() {
      let operation = workload.operations[index]
      let before = states[index].post(operation.object).map(StoredPost.init) ?? StoredPost()
      overlay.undo(operation.kind, of: operation.object, operation.properties, before)
    }
    let newest = WorkloadModel(workload, after: workload.operations.count)
    let found = newest.objects.enumerated().compactMap { index, post in
      post.flatMap { overlay.past(index + 1, StoredPost($0)) }.map { (object: index + 1, post: $0) }
    }
    try overlay.check("state", found, against: WorkloadModel(workload, after: count))
    #expect(throws: WrongState.self) {
      try overlay.check("state", found.dropLast(), against: WorkloadModel(workload, after: count))
    }
  }
}
