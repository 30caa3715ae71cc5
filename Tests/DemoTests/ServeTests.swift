import Foundation
import Testing

/// `annals serve`, which runs another program.
@Suite struct ServeTests {
  @Test func theServerIsFoundOnThePathAndGetsTheArguments() throws {
    let sandbox = try Sandbox()
    let folder = sandbox.folder.appending(path: "programs")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let program = folder.appending(path: "annals-serve")
    try Data("#!/bin/sh\necho \"$@\"\nexit 7\n".utf8).write(to: program)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: program.path)
    let run = try sandbox.shell(
      "PATH=\(folder.path):$PATH ./command serve a.annals --port 8080 --open", in: sandbox.folder)
    #expect(run.status == 7 && run.output.contains("--port 8080 --open -- a.annals"))
  }

  @Test func withoutTheServerItIsSaidHowToInstallIt() throws {
    let sandbox = try Sandbox()
    let run = try sandbox.shell("PATH=/nowhere ./command serve a.annals", in: sandbox.folder)
    #expect(run.status == 2 && run.output.contains("Tools/install"), "\(run.output)")
  }
}
