import AnnalsFormat
import AnnalsModel

/// Where a transaction is cut into parts: each ends with the change with which its changes, counted
/// by row, reach 256 KiB. So the parts follow from the changes, however they came.
package enum PortableParts {
  /// The changes in parts, at least one. Costs a copy of the changes, unless they are one part.
  package static func cut(_ parts: [ChangeBatch]) -> [ChangeBatch] {
    if parts.count == 1, isOne(parts[0]) { return parts }
    var result: [ChangeBatch] = []
    var next = ChangeBatch()
    var length = 0
    for part in parts {
      for index in part.changes.indices {
        next.append(part.changes[index], from: part)
        length += part.rowLength(ofChange: index)
        guard length >= FormatLimits.partTarget else { continue }
        result.append(next)
        next = ChangeBatch()
        length = 0
      }
    }
    if !next.changes.isEmpty || result.isEmpty { result.append(next) }
    return result
  }

  /// Whether the changes of a part do not reach the length before the last one, or, unless it is
  /// the last part, with that.
  package static func isOne(_ part: ChangeBatch, isLast: Bool = true) -> Bool {
    var length = 0
    for index in part.changes.indices {
      if length >= FormatLimits.partTarget { return false }
      length += part.rowLength(ofChange: index)
    }
    return isLast || length >= FormatLimits.partTarget
  }
}
