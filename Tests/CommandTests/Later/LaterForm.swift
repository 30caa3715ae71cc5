import AnnalsFormat
import AnnalsTestSupport
import Foundation

/// A file with one thing that only a later version of the format makes, by the rules of FORMAT.md.
struct LaterForm: Sendable, CustomStringConvertible {
  /// What this version makes of it.
  enum Reach: Sendable {
    /// It is not there, or kept: everything works.
    case ignored
    /// It may be read; nothing may be written.
    case writing
    /// The file is newer: neither read nor written to.
    case file
    /// History that nobody needs in order to open the file is newer: what reads or copies it fails.
    case past
    /// A chunk of the state is newer: whatever needs it fails.
    case state
    /// As `writing`, in history that nobody needs in order to open the file: what would write it
    /// anew fails.
    case rewriting
  }

  /// Where in the log it is.
  enum Place: String, CaseIterable, Sendable {
    /// Behind the newest mark, as a writer leaves it that did not close the file.
    case behind
    /// Before the newest mark.
    case marked
    /// Before the newest checkpoint, in history that an opening does not read.
    case past
  }

  var name: String
  var reach: Reach
  var change: @Sendable (inout FixtureBytes) throws -> Void
  var description: String { "\(name) (\(reach))" }

  init(
    _ name: String, _ reach: Reach,
    _ change: @escaping @Sendable (inout FixtureBytes) throws -> Void
  ) {
    (self.name, self.reach, self.change) = (name, reach, change)
  }

  /// The good fixture that all of them are made of: transaction 9 lies between two checkpoints, 10,
  /// the last, behind them.
  static let source = "checkpoint-and-indexes"
  static let head = 10
  static let past = 9

  static let all =
    files + frames + features + records + values + definitions + details + state

  /// The file's bytes, made of those of the good fixture.
  func bytes(of good: ContiguousArray<UInt8>) throws -> ContiguousArray<UInt8> {
    var bytes = try FixtureBytes(good)
    try change(&bytes)
    return bytes.bytes
  }
}

extension LaterForm {
  /// A frame in each place of the log. One that ends the reading makes the file newer, or what is
  /// read of the past.
  static func frame(
    _ name: String, isSkipped: Bool, _ kind: UInt8, _ flags: UInt8 = 0, _ payload: [UInt8] = [1]
  ) -> [LaterForm] {
    Place.allCases.map { place in
      let reach: Reach = isSkipped ? .ignored : place == .past ? .past : .file
      return LaterForm("\(name), \(place)", reach) {
        try $0.add(FixtureBytes.Piece(kind, flags, payload), at: place)
      }
    }
  }

  /// A transaction, given its number, in each place of the log.
  static func record(
    _ name: String, isRead: Bool = false, kind: UInt8 = 1,
    places: [Place] = Place.allCases, _ payload: @escaping @Sendable (Int) -> [UInt8]
  ) -> [LaterForm] {
    places.map { place in
      let reach: Reach = isRead ? .ignored : place == .past ? .past : .file
      return LaterForm("\(name), \(place)", reach) { bytes in
        if place == .past {
          try bytes.replaceTransaction(past, by: FixtureBytes.Piece(kind, 0, payload(past)))
        } else {
          try bytes.add(FixtureBytes.Piece(kind, 0, payload(head + 1)), at: place)
          if place == .marked { try bytes.raiseHead(to: head + 1) }
        }
      }
    }
  }
}
