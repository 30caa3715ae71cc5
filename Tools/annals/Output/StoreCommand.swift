import ArgumentParser

/// A subcommand that runs on an injected console.
protocol StoreCommand: ParsableCommand {
  /// Whether its output on a terminal goes through a pager.
  static var isPaged: Bool { get }
  /// The arguments with which it begins at the base; nil if there are none.
  static var beginningAtBase: String? { get }
  /// What it does about a damaged file.
  static var damageWork: DamageWork { get }
  /// Runs the command and returns the exit status.
  func run(_ console: Console) throws -> ExitStatus
}

extension StoreCommand {
  static var isPaged: Bool { false }
  static var beginningAtBase: String? { nil }
  static var damageWork: DamageWork { .none }
}

/// What a subcommand does about a damaged file, which decides the advice in messages.
enum DamageWork {
  case none, shows, saves
}

/// A subcommand about one store.
protocol FileCommand: StoreCommand {
  /// The path of the store, as it was typed.
  var file: String { get }
}

/// A subcommand that writes its store's file anew, beside the old one.
protocol RewritingCommand: FileCommand {}
