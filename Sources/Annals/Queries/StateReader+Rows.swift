import AnnalsEngine
import AnnalsModel
import AnnalsState
import Foundation

extension StateReader {
  /// The rows of the objects of which the condition is true, in the order of the keys and then of
  /// the rows; rising, or falling where `areTiesDescending`.
  ///
  /// O(objects), and with keys O(n log n) of the objects found.
  package func rows(
    of entity: EntityNumber, where condition: Condition?, sortedBy keys: [SortKey],
    areTiesDescending: Bool, limit: Int?, offset: Int
  ) throws(AnnalsError) -> [Int64] {
    if limit == 0 { return [] }
    let isInOrder = keys.isEmpty && !areTiesDescending
    let wanted = isInOrder ? limit.map { $0.addingReportingOverflow(offset) } : nil
    let most = wanted.map { $0.overflow ? Int.max : $0.partialValue } ?? Int.max
    var rows: [Int64] = []
    let bound = try AnnalsError.asking { () throws(ConditionError) in
      try BoundCondition(condition ?? .always, over: entity, in: state, sources)
    }
    try AnnalsError.evaluating { () throws(ConditionFault) in
      try bound.forEachRow {
        rows.append($0)
        return rows.count < most
      }
    }
    if !keys.isEmpty {
      rows = try RowOrder(keys, entity, self).sorted(rows, areTiesDescending: areTiesDescending)
    } else if areTiesDescending {
      rows.reverse()
    }
    guard offset > 0 || limit != nil else { return rows }
    return Array(rows.dropFirst(offset).prefix(limit ?? .max))
  }

  private var sources: ConditionSources {
    let largeValues = largeValues
    return ConditionSources(
      largeValue: { try largeValues.bytes(of: $0) },
      removingDiacritics: { $0.folding(options: .diacriticInsensitive, locale: nil) })
  }
}

extension AnnalsError {
  /// Runs `body`, with conditions that do not suit the entity as errors of the public interface.
  static func asking<T>(_ body: () throws(ConditionError) -> T) throws(AnnalsError) -> T {
    do throws(ConditionError) {
      return try body()
    } catch {
      throw AnnalsError(.invalidArgument, error.description)
    }
  }

  /// Runs `body`, with what keeps a condition from being evaluated as an error of the public
  /// interface.
  static func evaluating<T>(_ body: () throws(ConditionFault) -> T) throws(AnnalsError) -> T {
    do throws(ConditionFault) {
      return try body()
    } catch {
      switch error {
      case .state(let fault): throw AnnalsError(fault)
      case .largeValue(let inner): throw .wrapping(inner)
      }
    }
  }
}
