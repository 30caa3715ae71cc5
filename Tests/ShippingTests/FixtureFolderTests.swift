import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsShipping

/// The folder in Fixtures/shipped restores to the states beside it, in every later version.
@Suite(.deadline) struct FixtureFolderTests {
  private static let folder = packageFolder.appending(path: "Fixtures/shipped")
  private static var states: URL { folder.appending(path: "states.jsonl") }
  private static let isRemaking =
    ProcessInfo.processInfo.environment["ANNALS_REMAKE_FIXTURES"] != nil

  /// Ships a store with a prune in its middle, and writes files and states.
  private func make() throws {
    let lab = ShippingLab()
    let store = try lab.store()
    for id in 1...3 { try store.note("\(id)", text: "text \(id)") }
    try lab.ship()
    try store.note("4", text: String(repeating: "a long text. ", count: 400))
    try lab.ship()
    var texts = try (0...3).map { try text(store, at: $0) }
    try store.prune(store.prunePlan(before: 5))
    try lab.ship()
    try store.note("5", text: "after the prune")
    try lab.ship()
    try store.note("6")
    try store.note("7")
    try lab.ship()
    texts += try (4...store.token.number).map { try text(store, at: $0) }
    try? FileManager.default.removeItem(at: Self.folder)
    try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
    for name in lab.names {
      try Data(lab.disk.contents(of: name)).write(
        to: Self.folder.appending(path: String(name.dropFirst("/folder/".count))))
    }
    try Data(texts.joined().utf8).write(to: Self.states)
  }

  private func text(_ store: Store, at number: Int64) throws -> String {
    let state = try canonical(store, at: number).split(separator: "\n").dropFirst()
    return (["{\"transaction\":\(number)}"] + state).joined(separator: "\n") + "\n"
  }

  @Test func everyMoment() throws {
    if Self.isRemaking { try make() }
    let lab = ShippingLab()
    for name in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    where ShippedName(name) != nil {
      let bytes = try Data(contentsOf: Self.folder.appending(path: name))
      try lab.disk.put(ContiguousArray(bytes), at: "/folder/\(name)")
    }
    #expect(lab.names.count == 5)
    let bases = try ShippedStore(in: lab.folder).bases
    #expect(bases.map(\.segments) == [1, 2] && bases.map(\.first) == [0, 4])
    let expected = try String(contentsOf: Self.states, encoding: .utf8)
    var found = ""
    for number in 0...8 as ClosedRange<Int64> {
      found += try lab.restoring(at: number) { store, _ in try text(store, at: number) }
    }
    #expect(found == expected)
  }
}
