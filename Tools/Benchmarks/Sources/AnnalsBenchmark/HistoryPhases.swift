import Annals
import Foundation
import Measuring
import Workload

/// Phase 6: reading history with its changes.
struct HistoryPhases {
  private let session: RunSession
  private let store: Store
  private let middle: Int64

  init(_ session: RunSession) throws {
    self.session = session
    store = try session.open(session.path)
    middle = RunSession.bulkNumber + Int64(session.workload.operations.count / 2)
  }

  func run() throws {
    try check()
    let recorder = session.recorder
    try recorder.median("6 history after mid token", of: 7) { try touchValues(after: middle) }
    try recorder.median("6a history over all", of: 5) {
      try touchValues(after: RunSession.bulkNumber - 1)
    }
    try recorder.median("6b last 10 transactions", of: 21) {
      try touchValues(after: store.token.number - 10)
    }
    try recorder.median("6c history over all, without values", of: 5) {
      try touchChanges(after: RunSession.bulkNumber - 1)
    }
    try store.close()
  }

  /// Reads every value before and after, as values.
  private func touchValues(after number: Int64) throws -> Int {
    var count = 0
    var sum: UInt64 = 0
    try store.history(after: number).forEach { transaction in
      sum &+= UInt64(transaction.author?.utf8.count ?? 0)
      transaction.changes.forEach { change in
        count += 1
        sum &+= UInt64(truncatingIfNeeded: change.objectID.row)
        change.properties.forEach {
          sum &+= $0.before.touched &+ $0.after.touched
        }
      }
    }
    Sink.consume(sum)
    return count
  }

  /// Reads which objects changed, and how.
  private func touchChanges(after number: Int64) throws -> Int {
    var count = 0
    var sum: UInt64 = 0
    try store.history(after: number).forEach { transaction in
      transaction.changes.forEach { change in
        count += 1
        sum &+= UInt64(truncatingIfNeeded: change.objectID.row) &+ (change.kind == .update ? 1 : 0)
      }
    }
    Sink.consume(sum)
    return count
  }

  /// Compares the whole history with the workload's.
  private func check() throws {
    var model = WorkloadModel(session.workload)
    var index = -1
    try store.history(after: RunSession.bulkNumber - 1).forEach { transaction in
      defer { index += 1 }
      guard index >= 0 else {
        try checkBulk(transaction)
        return
      }
      let operation = session.workload.operations[index]
      let before = model.post(operation.object)
      try expect("changes of \(transaction.number)", transaction.changes.count, is: 1)
      try check(transaction, against: operation, before)
      model.apply(operation)
    }
    try expect("transactions in history", index, is: session.workload.operations.count)
  }

  private func checkBulk(_ transaction: Transaction) throws {
    let posts = session.workload.posts
    try expect("changes of the bulk", transaction.changes.count, is: posts.count)
    for (index, change) in transaction.changes.enumerated() {
      try expect("object of the bulk", change.objectID.row, is: Int64(index + 1))
      try check(change, .ofNewPost, before: nil, after: posts[index])
    }
  }

  private func check(
    _ transaction: Transaction, against operation: Workload.Operation, _ before: WorkloadPost?
  ) throws {
    let author = Vocabulary.authors[operation.author]
    try expect("author", transaction.author, is: author)
    try expect("context", transaction.context, is: Vocabulary.contexts[operation.context])
    try expect("time", transaction.timestamp.microseconds, is: operation.time)
    for change in transaction.changes {
      try expect("object", change.objectID.row, is: Int64(operation.object))
      switch operation.kind {
      case .insert: try check(change, .ofNewPost, before: nil, after: operation.post)
      case .update: try check(change, operation.properties, before: before, after: operation.post)
      case .delete: try check(change, .ofNewPost, before: before, after: nil)
      }
    }
  }

  private func check(
    _ change: Change, _ properties: PropertySet, before: WorkloadPost?, after: WorkloadPost?
  ) throws {
    let differences = change.properties
    try expect("changed properties", differences.count, is: properties.count)
    var rest = differences[...]
    for property in PostProperty.allCases where properties.contains(property) {
      guard let difference = rest.popFirst(), difference.name == property.name else {
        throw Failure("a change of \(property.name) is missing")
      }
      try expect(property.name, difference.before, is: before?.value(of: property) ?? .null)
      try expect(property.name, difference.after, is: after?.value(of: property) ?? .null)
    }
  }
}

extension Value {
  /// A part of the value, to prove that it was read.
  fileprivate var touched: UInt64 {
    switch self {
    case .null: 0
    case .bool(let flag): flag ? 1 : 2
    case .int(let number): UInt64(bitPattern: number)
    case .double(let number): number.bitPattern
    case .string(let text), .url(let text), .json(let text): UInt64(text.utf8.count)
    case .date(let moment): UInt64(bitPattern: Date(moment).microseconds)
    case .uuid(let uuid): UInt64(UUID(uuid).uuid.0)
    case .data(let bytes): UInt64(bytes.count)
    default: 3
    }
  }
}
