import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState
import Foundation

/// A predicate evaluated on each record that the condition of a fetch lets through.
struct RecordTest<R: Record>: Hashable, Sendable {
  private let predicate: Predicate<R>
  /// Its identity, since predicates cannot be compared.
  private let identity = UUID()

  init(_ predicate: Predicate<R>) { self.predicate = predicate }

  /// Whether the predicate is true of the record.
  func holds(_ record: R, row: Int64) throws(AnnalsError) -> Bool {
    do {
      return try predicate.evaluate(record)
    } catch {
      throw AnnalsError(
        .invalidArgument,
        "the predicate cannot be evaluated on \(R.entity.name)#\(row): \(error)")
    }
  }

  static func == (a: RecordTest, b: RecordTest) -> Bool { a.identity == b.identity }

  func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

extension RecordQuery {
  /// The objects that a fetch with predicates or a record order finds, in its order.
  ///
  /// Reads the records that the condition lets through: all of them if there is a record order,
  /// otherwise up to the limit.
  func testedObjects(_ fetch: Fetch<R>) throws(AnnalsError) -> [Object<R>] {
    var wanted = fetch
    wanted.maximumCount = nil
    wanted.skippedCount = 0
    let rows = try reader.rows(try plannedQuery(wanted))
    var found: [Object<R>] = []
    let end = fetch.maximumCount.map { $0.addingReportingOverflow(fetch.skippedCount) }
    let most = end.map { $0.overflow ? .max : $0.partialValue } ?? .max
    for start in stride(from: 0, to: rows.count, by: RecordQuery.testedAtOnce) {
      if fetch.recordOrder.isEmpty, found.count >= most { break }
      let part = Array(rows[start..<min(rows.count, start + RecordQuery.testedAtOnce)])
      for object in try objects(part) {
        var holds = true
        for test in fetch.tests where holds {
          holds = try test.holds(object.value, row: object.objectID.row)
        }
        if holds { found.append(object) }
      }
    }
    if !fetch.recordOrder.isEmpty { found = RecordQuery.sorted(found, by: fetch.recordOrder) }
    return Array(found.dropFirst(fetch.skippedCount).prefix(fetch.maximumCount ?? .max))
  }

  /// The number of records that are read before they are tested.
  private static var testedAtOnce: Int { 256 }

  /// Records that no descriptor distinguishes keep their order.
  private static func sorted(
    _ objects: [Object<R>], by order: [SortDescriptor<R>]
  ) -> [Object<R>] {
    objects.enumerated().sorted { a, b in
      let outcome = order.outcome(a.element.value, b.element.value)
      return outcome == .equal ? a.offset < b.offset : outcome == .less
    }.map(\.element)
  }
}
