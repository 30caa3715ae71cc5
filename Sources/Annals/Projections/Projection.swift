import AnnalsEngine
import Foundation

/// A value of a program's own that follows from the transactions of a store, one after the other: a
/// count per day, a search index, a total.
///
/// The store keeps one value of each registered type, brings it level with its history when it is
/// read, and saves it with checkpoints, so that the next opening goes on from there. What is saved
/// is never the truth: that is the history, and whatever is saved can be made anew.
///
///     struct PostsPerDay: Projection, Codable {
///       static let name = "posts per day"
///       static let version = 1
///       var counts: [Int: Int] = [:]  // by days since 1970
///
///       mutating func apply(_ transaction: Transaction) throws {
///         for change in transaction.changes {
///           add(-1, on: try change.before(\Post.timestamp))
///           add(1, on: try change.after(\Post.timestamp))
///         }
///       }
///
///       mutating func add(_ step: Int, on moment: Date?) {
///         guard let moment else { return }
///         let day = Int((moment.timeIntervalSince1970 / 86_400).rounded(.down))
///         let count = counts[day, default: 0] + step
///         counts[day] = count == 0 ? nil : count
///       }
///     }
///
///     extension PostsPerDay {
///       init(base: Snapshot) throws {
///         for post in try base.objects(of: Post.self) { add(1, on: post.timestamp) }
///       }
///     }
///
///     store.register(PostsPerDay.self)
///     let perDay = try store.projection(PostsPerDay.self)
///
/// `apply` must give the same for the same transactions, wherever and whenever it runs: it looks at
/// no clock, no random number, and nothing that the program changes. `store.verify()` makes each
/// registered projection anew from the history and compares.
///
/// The code of a projection runs on the thread that reads it, and on that of a commit that makes a
/// checkpoint due. It may read the store; a write, a checkpoint, `refresh()`, `close()` of the same
/// store, and reading a projection of it, trap there.
public protocol Projection: Equatable, Sendable {
  /// What the saved state is found by: 1 to 255 bytes of UTF-8, another one for each type.
  static var name: String { get }

  /// Which version of the program's code this is: 0 or more, raised whenever `apply`, `init(base:)`
  /// or the encoding comes to mean something else. What another version saved is not used.
  static var version: Int { get }

  /// The value before the first transaction.
  init()

  /// The value that all transactions up to the base of a store come to, made of nothing but the
  /// state there: for a store whose older history was pruned.
  ///
  /// Returns nil, as it does by default, if the state does not tell: say, for who made a change. A
  /// projection that needs the whole history can then be read from its saved state alone, and
  /// throws `.pruned` if there is none. Whatever it throws reaches who reads the projection.
  init?(base: Snapshot) throws

  /// Takes in the next transaction, whole. Transactions come in order, without gaps but for those
  /// that a salvage left: such a one has `lost`, and changes that lead to the state behind.
  ///
  /// If it throws, the value is dropped; the next reading begins from the last saved state.
  mutating func apply(_ transaction: Transaction) throws

  /// The value as bytes, of which `init(encoded:)` makes an equal one: at most 16,000,000, or the
  /// value is not saved. JSON by default if the type is `Codable`.
  func encoded() throws -> Data

  /// The value of these bytes, which this version has encoded. If it throws, the value is made
  /// anew from the history.
  init(encoded: Data) throws
}

extension Projection {
  /// Nil: the state at the base does not tell, and the whole history is needed.
  public init?(base: Snapshot) throws { nil }
}

extension Projection where Self: Codable {
  /// The value as JSON.
  public func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return try encoder.encode(self)
  }

  /// The value of this JSON.
  public init(encoded: Data) throws {
    self = try JSONDecoder().decode(Self.self, from: encoded)
  }
}

extension Store {
  /// Says that this opening keeps the projection: reading it goes on from where the last reading
  /// ended, checkpoints save it, rewrites keep what is saved, and `verify()` compares it. Reads
  /// nothing yet. Registering a type again does nothing; two types of one name, and a name or
  /// version that cannot be, trap.
  public func register<P: Projection>(_ type: P.Type) { _ = projections.slot(of: type) }

  /// The value of a projection, level with the newest transaction acknowledged here. Registers the
  /// type.
  ///
  /// Costs applying the transactions since it was last read; the first time in an opening those
  /// since its saved state, or all of them. One thread at a time brings a projection level; others
  /// wait for it. Copying the value is left to the type.
  ///
  /// Throws `.projectionFailed` if the projection's own code threw, see `AnnalsError.thrown`;
  /// `.pruned` if it needs history that is pruned; and as reading history does. The store is as it
  /// was.
  public func projection<P: Projection>(_ type: P.Type) throws(AnnalsError) -> P {
    try projections.slot(of: type).newest()
  }

  /// The value of a projection as of a position: beside a snapshot, say, `at: snapshot.token`.
  ///
  /// As `projection(_:)` if nothing newer was read yet; otherwise costs applying the transactions
  /// since the last state saved before the position. Throws as `snapshot(at:)` does, too.
  public func projection<P: Projection>(
    _ type: P.Type, at position: any HistoryPosition
  ) throws(AnnalsError) -> P {
    let version = version
    return try projections.slot(of: type).value(
      at: try version.number(at: position.historyPlace), in: version)
  }
}
