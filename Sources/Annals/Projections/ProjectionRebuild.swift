import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import Foundation

/// A projection rebuilt from the history, and compared on the way with its kept and saved values.
protocol AnyProjectionRebuild {
  /// Applies the next transaction.
  mutating func apply(_ transaction: Transaction)
  /// Compares the rebuilt value with those made from the newest state, and returns the findings.
  mutating func compareAtEnd(in version: StoreVersion) throws(AnnalsError) -> [StoreFinding]
}

/// Rebuilds one projection.
struct ProjectionRebuild<Value: Projection>: AnyProjectionRebuild {
  /// A value that is claimed to be the projection's as of a transaction.
  struct Claim {
    var value: Value
    var number: Int64
    /// Where the claim comes from.
    var what: String
  }

  private let slot: ProjectionSlot<Value>
  /// Nil if the projection cannot be rebuilt, or has failed.
  private var value: Value?
  private var claims: [Claim] = []
  private var findings: [StoreFinding] = []

  /// Starts with the value at the version's base; the kept value becomes a claim.
  init(_ slot: ProjectionSlot<Value>, in version: StoreVersion) throws(AnnalsError) {
    self.slot = slot
    if let kept = try slot.kept(in: version), kept.token.number <= version.head.number {
      claims.append(Claim(value: kept.value, number: kept.token.number, what: "as it is kept"))
    }
    claimSaved(in: version)
    do throws(AnnalsError) {
      value = try slot.fromBase(in: version).value
    } catch {
      switch error.code {
      case .pruned:
        note(.note, "cannot be rebuilt, as older history is pruned; it was not compared")
      case .projectionFailed: note(.error, "cannot be rebuilt: \(error)")
      default: throw error
      }
    }
    compare(at: version.base.number)
  }

  /// Adds the saved value as a claim, if it belongs to this version of the code. The physical half
  /// of `verify` finds damaged bytes.
  private mutating func claimSaved(in version: StoreVersion) {
    let saved = version.view.savedProjections.first {
      $0.isNamed(slot.name) && $0.version == slot.version
    }
    guard let saved else { return }
    do {
      let value = try slot.value(of: saved, in: version)
      claims.append(Claim(value: value, number: saved.number, what: "as it is saved"))
    } catch is LogError {
    } catch {
      note(
        .warning,
        "cannot be decoded as it is saved, as of transaction \(saved.number): \(error). It is made "
          + "anew when it is read, and the next checkpoint saves it")
    }
  }

  mutating func apply(_ transaction: Transaction) {
    guard value != nil else { return }
    do throws(AnnalsError) {
      try slot.barring { () throws(AnnalsError) in
        // In place: there is no other reference.
        guard var current = value.take() else { return }
        try slot.apply(transaction, to: &current)
        value = current
      }
      compare(at: transaction.number)
    } catch {
      note(.error, "cannot be rebuilt: \(error)")
    }
  }

  mutating func compareAtEnd(in version: StoreVersion) throws(AnnalsError) -> [StoreFinding] {
    guard let value else { return findings }
    do throws(AnnalsError) {
      let made = try slot.value(from: version.snapshot, "in the newest state")
      if let made, made != value {
        note(
          .error,
          "differs from what it makes of the newest state alone: were history pruned, it would not "
            + "be the same any more. Fix `init(base:)` or `apply`")
      }
      try compareEncoding(of: value)
    } catch {
      note(.error, "cannot be saved or rebuilt: \(error)")
    }
    return findings
  }

  /// Compares the claims for one transaction.
  private mutating func compare(at number: Int64) {
    guard let value else { return }
    for claim in claims where claim.number == number && claim.value != value {
      note(
        .error,
        "differs, \(claim.what) as of transaction \(number), from what the history leads to. "
          + "Either it was changed without a new version, or it depends on more than the "
          + "transactions: fix it and raise its version")
    }
    claims.removeAll { $0.number == number }
  }

  /// Checks that the value's bytes decode to an equal value.
  private mutating func compareEncoding(of value: Value) throws(AnnalsError) {
    let isSame: Bool
    do {
      let state = try slot.barring { try value.encoded() }
      if state.count > SavedProjection.maximumState {
        note(.note, "is not saved: it has \(state.count) bytes, and at most 16,000,000 are")
      }
      isSame = try slot.barring { try Value(encoded: state) == value }
    } catch {
      throw .projection(slot.name, "while it was encoded and decoded", error)
    }
    if !isSame {
      note(.error, "is another value when it has been encoded and decoded. Fix one of the two")
    }
  }

  private mutating func note(_ severity: StoreFinding.Severity, _ text: String) {
    findings.append(
      StoreFinding(severity: severity, message: "the projection \"\(slot.name)\" \(text)"))
  }
}
