import AnnalsTestSupport
import Testing

@testable import AnnalsInspector

/// The places at which two long texts differ.
@Suite struct TextPlacesTests {
  private static let lines = (0..<400).map { "line \($0) of a text that is kept in versions\n" }

  private func places(
    _ changes: [Int: String], cut: Int = 2_000
  ) throws -> (found: TextPlaces, before: String, after: String) {
    let before = TextPlacesTests.lines.joined()
    let after = TextPlacesTests.lines.enumerated().map { changes[$0] ?? $1 }.joined()
    return (try #require(TextPlaces(before, after, cut: cut)), before, after)
  }

  @Test func placesThatAreFarApart() throws {
    let (found, _, _) = try places([
      0: "line zero of a text that is kept in versions\n", 200: "", 399: "the last line\n",
    ])
    #expect(found.left == 0 && found.start == 0)
    #expect(found.lines == [1, 201, 399])
    #expect(found.windows.map(\.isWhole) == [true, true, true])
    #expect(found.windows.map(\.after).first == "line zero of a text that is kept in versions\n")
    #expect(found.windows[1].before == TextPlacesTests.lines[200])
    #expect(found.windows[1].after.isEmpty)
    #expect(found.windows[2].after.contains("the last line"))
  }

  @Test func nearOnesAreOne() throws {
    let (found, _, _) = try places([10: "a\n", 12: "b\n", 15: "c\n", 19: "d\n"])
    #expect(found.lines == [11, 20])
    #expect(found.start == TextPlacesTests.lines[..<10].reduce(0) { $0 + $1.utf8.count })
  }

  @Test func whatIsNotShownIsCounted() throws {
    let changes = Dictionary(
      uniqueKeysWithValues: stride(from: 0, to: 400, by: 8).map {
        ($0, "changed \($0)\n")
      })
    let (found, _, _) = try places(changes, cut: 500)
    #expect(found.windows.count > 5 && found.windows.count + found.left == 50)
  }

  @Test func textsWithNothingInCommonHaveOnePlace() throws {
    let before = (0..<3_000).map { "a\($0)\n" }.joined()
    let after = (0..<3_000).map { "b\($0)\n" }.joined()
    let found = try #require(TextPlaces(before, after, cut: 300))
    #expect(found.windows.count == 1 && found.left == 0 && !found.windows[0].isWhole)
    #expect(TextPlaces(before, before, cut: 300) == nil)
    #expect(TextPlaces("", "", cut: 300) == nil)
  }

  /// All that is removed and added is shown, at the line that is told.
  @Test func anything() throws {
    for seed in 0..<300 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      let old = (0..<random.below(40)).map { _ in "\(random.below(9))é\n" }
      var new = old
      for _ in 0..<random.below(6) {
        let place = random.below(new.count + 1)
        switch random.below(3) {
        case 0: new.insert("new \(random.below(4))\n", at: place)
        case 1: if place < new.count { new.remove(at: place) }
        default: if place < new.count { new[place] = "now \(random.below(4))" }
        }
      }
      let (before, after) = (old.joined(), new.joined())
      guard let found = TextPlaces(before, after, cut: 100_000) else {
        #expect(before == after)
        continue
      }
      #expect(before != after && found.left == 0)
      let lines = after.split(separator: "\n", omittingEmptySubsequences: false)
      for (window, line) in zip(found.windows, found.lines) {
        #expect(window.isWhole)
        #expect(before.contains(window.before) && after.contains(window.after), "seed \(seed)")
        let rest = lines[min(line - 1, lines.count)...].joined(separator: "\n")
        #expect(rest.contains(window.after), "seed \(seed)")
      }
      #expect(after.utf8.prefix(found.start).elementsEqual(before.utf8.prefix(found.start)))
    }
  }
}
