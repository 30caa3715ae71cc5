import ArgumentParser

@main
struct AnnalsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "annals", abstract: "Reads and writes .annals files.")
}
