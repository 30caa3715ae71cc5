import AnnalsInspector
import Foundation
import InspectorPage
import InspectorServer
import Testing

/// The program as it is started and ended.
@Suite(.timeLimit(.minutes(1))) struct ProgramTests {
  private static let program = URL(fileURLWithPath: #filePath)
    .appendingPathComponent("../../../.build/debug/annals-serve").standardized

  private static var isBuilt: Bool {
    FileManager.default.isExecutableFile(atPath: program.path)
  }

  /// Whoever ends it, with Ctrl-C or otherwise, ends it in order.
  @Test(.enabled(if: isBuilt), arguments: [SIGINT, SIGTERM, SIGHUP])
  func aSignalEndsIt(signal: Int32) async throws {
    let served = try ServedStore()
    let process = Process()
    process.executableURL = ProgramTests.program
    process.arguments = [served.path]
    let output = Pipe()
    process.standardOutput = output
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in end.finish() }
    try process.run()
    let address = output.fileHandleForReading.availableData
    #expect(String(decoding: address, as: UTF8.self).hasPrefix("http://127.0.0.1:"))
    kill(process.processIdentifier, signal)
    for await _ in ended {}
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
  }

  @Test func aPortInUseIsNamed() throws {
    let served = try ServedStore()
    let inspector = try Inspector(path: served.path)
    let error = #expect(throws: InspectorServer.PortUnusable.self) {
      _ = try InspectorServer(
        inspector, page: PageFiles(EmbeddedPage.contents), port: served.server.port)
    }
    #expect(error?.port == served.server.port)
  }
}
