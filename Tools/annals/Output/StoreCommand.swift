import ArgumentParser

/// A subcommand that runs on an injected console.
protocol StoreCommand: ParsableCommand {
  /// Whether what it prints on a terminal goes through a pager.
  static var isPaged: Bool { get }
  /// What to add to its arguments so that it begins with the base; nil if nothing does that.
  static var beginningAtBase: String? { get }
  /// What it does about damage.
  static var damageWork: DamageWork { get }
  /// Does the work and says how it went.
  func run(_ console: Console) throws -> ExitStatus
}

extension StoreCommand {
  static var isPaged: Bool { false }
  static var beginningAtBase: String? { nil }
  static var damageWork: DamageWork { .none }
}

/// What a subcommand does about a damaged file.
enum DamageWork {
  case none, shows, saves
}

/// A subcommand about one store.
protocol FileCommand: StoreCommand {
  /// The path of the store, as it was typed.
  var file: String { get }
}
