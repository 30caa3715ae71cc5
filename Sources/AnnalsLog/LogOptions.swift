import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// When a transaction counts as acknowledged.
package enum LogDurability: Sendable {
  /// Once it was synced.
  case full
  /// Once it was written: a killed process loses nothing, a power cut may.
  case deferred
}

/// How to open a log.
package struct LogOptions: Sendable {
  package var access: FileAccess
  package var durability: LogDurability
  /// Whether to open a damaged log up to the damage, which the report names. For reading only:
  /// opening for writing never proceeds past damage.
  package var readsUpToDamage: Bool
  /// The opening that transactions name, recorded with the first one. Its number does not matter.
  /// If nil, transactions name no opening.
  package var opening: Opening?

  package init(
    access: FileAccess, durability: LogDurability = .full, readsUpToDamage: Bool = false,
    opening: Opening? = nil
  ) {
    self.access = access
    self.durability = durability
    self.readsUpToDamage = readsUpToDamage
    self.opening = opening
  }
}

/// Which state to start from.
package enum StartChoice: Sendable {
  /// The newest usable checkpoint.
  case newest
  /// The base, so that everything is rebuilt from the history.
  case base
}

/// How what is known here compares with the file.
package enum LogStanding: Hashable, Sendable {
  /// Nothing was added.
  case current
  /// Transactions were added: catch up.
  case behind
  /// The file was replaced: recover from what is there.
  case replaced
}
