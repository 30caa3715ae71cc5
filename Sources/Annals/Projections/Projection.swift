import AnnalsEngine
import Foundation

/// A value that a program computes from the transactions of a store, in order: a count per day, a
/// search index, a total.
///
/// The store keeps one value of each registered type, applies new transactions to it when it is
/// read, and saves it with checkpoints, so that the next opening continues from there. A saved
/// value is only a cache: the history is the truth, and everything saved can be rebuilt from it.
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
/// `apply` must give the same result for the same transactions, wherever and whenever it runs: it
/// must not read a clock, random numbers, or anything that the program changes. `store.verify()`
/// rebuilds each registered projection from the history and compares it.
///
/// The code of a projection runs on the thread that reads it, and on the thread of a commit that
/// makes a checkpoint due. It may read the store. It must not write, checkpoint, `refresh()` or
/// `close()` the same store, nor read a projection of it: these trap.
public protocol Projection: Equatable, Sendable {
  /// The name that the saved state is stored under: 1 to 255 bytes of UTF-8, different for each
  /// type.
  static var name: String { get }

  /// The version of the program's code: 0 or more. Raise it whenever `apply`, `init(base:)` or the
  /// encoding changes its meaning. States saved by other versions are not used.
  static var version: Int { get }

  /// The value before the first transaction.
  init()

  /// The value of all transactions up to the base of a store, made from the base's state alone: for
  /// a store whose older history was pruned.
  ///
  /// Returns nil, as it does by default, if the state does not contain what is needed, such as who
  /// made a change. A projection that needs the whole history can then only continue from its saved
  /// state, and reading it throws `.pruned` if there is none. Errors reach the reader of the
  /// projection.
  init?(base: Snapshot) throws

  /// Applies the next transaction, whole. Transactions come in order and without gaps, except those
  /// that a salvage left: such a transaction has `lost`, and changes that lead to the state after
  /// it.
  ///
  /// If it throws, the value is dropped, and the next reading starts from the last saved state.
  mutating func apply(_ transaction: Transaction) throws

  /// The value as bytes that `init(encoded:)` turns into an equal value. At most 16,000,000 bytes;
  /// longer ones are not saved. JSON by default if the type is `Codable`.
  func encoded() throws -> Data

  /// Decodes a value that this version has encoded. If it throws, the value is rebuilt from the
  /// history.
  init(encoded: Data) throws
}

extension Projection {
  /// Nil: the projection needs the whole history.
  public init?(base: Snapshot) throws { nil }
}

extension Projection where Self: Codable {
  /// The value as JSON.
  public func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return try encoder.encode(self)
  }

  /// Decodes the value from JSON.
  public init(encoded: Data) throws {
    self = try JSONDecoder().decode(Self.self, from: encoded)
  }
}
