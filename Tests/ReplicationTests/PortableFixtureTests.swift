import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsTestSupport
import Foundation
import Testing

/// The transactions in Fixtures/portable, each with its text beside it: another reader of the form
/// can be tried on them.
@Suite struct PortableFixtureTests {
  private static let folder = packageFolder.appending(path: "Fixtures/portable")
  private static let names = [
    "1-schema", "2-inserts", "3-updates", "4-undo", "5-cascade", "6-kinds", "7-erasure",
  ]

  private static func file(_ name: String, _ kind: String) -> URL {
    folder.appending(path: "\(name).\(kind)")
  }

  /// ANNALS_REMAKE_FIXTURES makes them anew, ANNALS_RECORD their texts.
  @Test func theyAreWhatIsWrittenAndReadToday() async throws {
    let samples = try await PortableCodecTests.samples().map(\.0)
    #expect(samples.count == Self.names.count)
    let isRemaking = ProcessInfo.processInfo.environment["ANNALS_REMAKE_FIXTURES"] != nil
    for (name, sample) in zip(Self.names, samples) {
      let file = Self.file(name, "portable")
      if isRemaking { try Data(sample.bytes).write(to: file) }
      let bytes = [UInt8](try Data(contentsOf: file))
      #expect(bytes == sample.bytes, "\(name) is written otherwise today")
      let text = try PortableTransaction(decoding: bytes).description
      #expect(try golden(Self.file(name, "txt"), recording: text) == text, "\(name)")
    }
  }

  /// They make a store: another replica can start from them.
  @Test func theyMakeAStore() throws {
    var transactions: [PortableTransaction] = []
    for name in Self.names {
      let bytes = try Data(contentsOf: Self.file(name, "portable"))
      transactions.append(try PortableTransaction(decoding: [UInt8](bytes)))
    }
    let store = try PortableCodecTests.store(with: transactions[...])
    #expect(store.token.number == Int64(transactions.count))
    #expect(try store.snapshot().count(of: "All") == 9)
  }
}
