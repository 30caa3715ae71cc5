import Annals
import AnnalsFormat
import AnnalsLog

/// The states after some transactions, for the names of the objects that they touch.
///
/// Where making such a state costs too much, and exact ones are not asked for, the newest one names
/// them: keys seldom change, and objects that are gone have their numbers.
package final class NamingStates {
  private let version: StoreVersion
  private let end: Int64
  private var cursor: StateCursor?
  private var isExact: Bool?

  /// From so many transactions on the newest state is used.
  private static let farthest: Int64 = 5_000

  /// States that will be asked for in this order: moving to `end`. Exact ones are made whatever it
  /// costs, without those of the newest values: the store may not hold these.
  init(_ version: StoreVersion, movingTo end: Int64, isExact: Bool? = nil) {
    (self.version, self.end, self.isExact) = (version, end, isExact)
  }

  /// A reader of the state just after a transaction. Call it in the order of the walk.
  package func reader(at number: Int64) throws(AnnalsError) -> StateReader {
    if number == version.token.number, cursor == nil, isExact != true { return newest }
    if isExact == nil { isExact = try costs(number) <= NamingStates.farthest }
    guard isExact == true else { return newest }
    if cursor == nil {
      cursor = try StateCursor(version: version, at: number, movingTo: end)
    }
    guard var now = cursor.take() else { return newest }
    try now.move(to: number)
    let reader = now.reader
    cursor = now
    return reader
  }

  private var newest: StateReader { version.reader(of: version.state) }

  /// How many transactions must be applied for the states.
  private func costs(_ number: Int64) throws(AnnalsError) -> Int64 {
    let back = version.token.number - number
    let length = (number - end).magnitude
    guard back > NamingStates.farthest else { return back + Int64(length) }
    let start = try AnnalsError.translating { try version.view.checkpoint(atOrBefore: number) }
    return min(back, number - (start?.number ?? version.view.base)) + Int64(length)
  }
}
