import AnnalsInspector
import Foundation
import InspectorPage
import InspectorServer
import Testing

/// What a start of the server refuses.
@Suite(.timeLimit(.minutes(1))) struct StartTests {
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
