import Foundation
import Testing

/// Tools/install, with the command that was built with the tests.
@Suite struct InstallTests {
  @Test func theCommandItsCompletionsAndItsManual() throws {
    let sandbox = try Sandbox()
    let prefix = sandbox.folder.appending(path: "a prefix")
    let run = try sandbox.install("--prefix '\(prefix.path)'")
    #expect(run.status == 0 && run.output.contains("is not on your path"), "\(run.output)")
    func text(_ path: String) throws -> String {
      try String(contentsOf: prefix.appending(path: "share/\(path)"), encoding: .utf8)
    }
    let version = try sandbox.shell("bin/annals --version", in: prefix)
    #expect(version.status == 0 && version.output.hasPrefix("annals 0."), "\(version.output)")
    let manual = try text("man/man1/annals.1")
    for verb in ["LOG", "VERIFY", "PRUNE"] { #expect(manual.contains(".SH ANNALS \(verb)\n")) }
    #expect(manual.contains("\\-\\-oneline"), "options stand as they are typed")
    #expect(try text("bash-completion/completions/annals").contains("--oneline"))
    #expect(try text("zsh/site-functions/_annals").contains("_files"), "files are completed")
    #expect(try text("fish/vendor_completions.d/annals.fish").contains("oneline"))
    let removal = try sandbox.install("--prefix '\(prefix.path)' --remove")
    #expect(removal.status == 0)
    let rest = try sandbox.shell("find . -type f", in: prefix)
    #expect(rest.output == "", "\(rest.output)")
  }

  @Test(arguments: ["--prefix /proc/annals", "--prefix", "--prefx /tmp"])
  func whatItCannotDoIsTold(arguments: String) throws {
    let run = try Sandbox().install(arguments)
    #expect(run.status == 2 && run.output.hasPrefix("install: "), "\(run.output)")
  }
}
