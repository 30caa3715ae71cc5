import Annals
import AnnalsExchange
import AnnalsModel
import AnnalsReplication
import AnnalsTestSupport
import Foundation

@testable import AnnalsCommand

/// What opening a fixture gives.
enum FixtureOutcome: Equatable {
  /// The newest state, and nothing to report.
  case clean
  /// The newest state, and nothing to report; opening it for writing is `.newerVersion`.
  case readOnly
  /// The newest state; `verify` reports this.
  case finding(String)
  /// The state as of an earlier transaction: what lies behind it is a torn tail.
  case torn(head: Int64)
  /// It opens; reading the newest state is an error of this code.
  case unreadable(AnnalsError.Code)
  /// An error of this code; up to the damage the state as of `head` can be read.
  case inside(AnnalsError.Code, head: Int64)
  /// An error of this code, however it is opened.
  case refused(AnnalsError.Code)
}

/// A file in Fixtures: how it is made, and what opening it gives.
struct FixtureRecipe: Sendable, CustomStringConvertible {
  var name: String
  var outcome: FixtureOutcome
  /// The good fixture whose states this one has, as far as it has any.
  var source: String
  var make: @Sendable (CommandFolder) throws -> Data

  /// A good fixture.
  init(_ name: String, _ make: @escaping @Sendable (CommandFolder) throws -> Data) {
    (self.name, outcome, source, self.make) = (name, .clean, name, make)
  }

  /// A damaged one: a good one, changed.
  init(
    _ name: String, from source: String, _ outcome: FixtureOutcome,
    _ change: @escaping @Sendable (inout FixtureBytes) throws -> Void
  ) {
    (self.name, self.outcome, self.source) = (name, outcome, source)
    make = { folder in
      let good = try FixtureRecipe.named(source).make(folder)
      var bytes = try FixtureBytes(ContiguousArray(good))
      try change(&bytes)
      return Data(bytes.bytes)
    }
  }

  var description: String { name }

  static let all = good + damaged

  static func named(_ name: String) throws -> FixtureRecipe {
    guard let recipe = all.first(where: { $0.name == name }) else {
      throw CocoaError(.fileNoSuchFile)
    }
    return recipe
  }

  static let folder = packageFolder.appending(path: "Fixtures/version-1")

  /// The file beside the others whose name ends so.
  func file(_ suffix: String) -> URL { FixtureRecipe.folder.appending(path: name + suffix) }
}

/// The states of a store at each transaction that it has, as kept beside a fixture, those of lost
/// transactions left out: a line `{"transaction":N}`, then the canonical state; or its digest and
/// count of lines if it is long.
enum StateBook {
  static let longestState = 4096

  static func of(_ store: Store) throws -> String {
    var text = ""
    for number in store.base.number...store.token.number {
      do {
        text += try page(number, state(number, of: store))
      } catch let error as AnnalsError where error.code == .lost {
        // The state of a transaction that was lost before a salvage.
      }
    }
    return text
  }

  static func page(_ number: Int64, _ state: String) -> String {
    guard state.utf8.count > longestState else { return "{\"transaction\":\(number)}\n" + state }
    let digest = Digest(of: Array(state.utf8))
    let lines = state.utf8.count { $0 == UInt8(ascii: "\n") }
    return "{\"transaction\":\(number),\"sha256\":\"\(digest)\",\"lines\":\(lines)}\n"
  }

  /// The page of one transaction in a book.
  static func page(_ number: Int64, in book: String) -> String {
    var page = ""
    var isInside = false
    for line in book.split(separator: "\n", omittingEmptySubsequences: true) {
      if line.hasPrefix("{\"transaction\":") {
        isInside =
          line.hasPrefix("{\"transaction\":\(number)}")
          || line.hasPrefix("{\"transaction\":\(number),")
      }
      if isInside { page += line + "\n" }
    }
    return page
  }

  static func state(_ number: Int64, of store: Store) throws -> String {
    var bytes: [UInt8] = []
    var canonical = CanonicalState(try store.snapshot(at: number))
    try canonical.write { bytes += $0 }
    return String(decoding: bytes, as: UTF8.self)
  }
}
