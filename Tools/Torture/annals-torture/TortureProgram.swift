import AnnalsTorture
import ArgumentParser
import Foundation

@main
struct TortureProgram: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "annals-torture",
    abstract: "Tries to lose data: crashes, failing disks, killed processes.",
    discussion: """
      Works on stores of its own, in memory and in a temporary folder, and prints what it tried. \
      Exits with 0 if every promise was kept, 1 if one was broken, and then prints how to repeat it.
      """)

  @Option(help: "The time to run, in seconds.") var seconds = 20.0
  @Option(help: "The seed of the random choices.") var seed: UInt64 = 1
  @Option(help: "Only this case, or those whose names begin with it.") var only: String?

  @Option(help: .hidden) var child: TortureChild.Role?
  @Option(help: .hidden) var name = "child"
  @Option(help: .hidden) var file: String?
  @Option(help: .hidden) var parent: Int32?

  func validate() throws {
    guard seconds > 0, seconds <= 1_000_000 else {
      throw ValidationError("--seconds takes a number above 0")
    }
  }

  func run() throws {
    if let child, let file {
      var worker = TortureChild(child, path: file, name: name)
      // A parent that was killed cannot kill its children.
      while parent == nil || parent == getppid() { try worker.step() }
      return
    }
    let folder = NSTemporaryDirectory() + "annals-torture-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    print("seed \(seed), \(seconds) seconds")
    let run = TortureRun(
      seed: seed, seconds: seconds, folder: folder,
      executable: Bundle.main.executablePath ?? CommandLine.arguments[0], only: only)
    run.run()
    if let only, run.tried.isEmpty, run.isComplete {
      throw ValidationError(
        "no case is named `\(only)`. Their names begin with \(run.kinds.joined(separator: ", "))")
    }
    TortureText(run).lines(seed: seed).forEach { print($0) }
    if !run.failures.isEmpty { throw ExitCode(1) }
  }
}

extension TortureChild.Role: ExpressibleByArgument {}
