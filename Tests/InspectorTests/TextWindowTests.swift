import AnnalsTestSupport
import Testing

@testable import AnnalsInspector

/// What is shown of two long texts.
@Suite struct TextWindowTests {
  private static let long = (1...400).map { "line \($0) of the text\n" }.joined()

  @Test func aChangeFarBehindIsShownWithItsLine() throws {
    let before = TextWindowTests.long
    let after = before.replacing("line 371 of", with: "line 371, new, of")
    let window = try #require(TextWindow(before, after, cut: 200))
    #expect(window.before.hasPrefix("line 371 of the text\nline 372"))
    #expect(window.after.hasPrefix("line 371, new, of the text\nline 372"))
    #expect(window.isWhole)
    #expect(window.start == before.utf8.count(before: "line 371 of"))
  }

  @Test func equalTextsHaveNoDifference() {
    #expect(TextWindow(TextWindowTests.long, TextWindowTests.long, cut: 200) == nil)
  }

  @Test func whatDiffersForLongIsCut() throws {
    let after = TextWindowTests.long.uppercased()
    let window = try #require(TextWindow(TextWindowTests.long, after, cut: 200))
    #expect(!window.isWhole && window.start == 0)
    #expect(window.before.utf8.count == 320 && window.after.utf8.count == 320)
  }

  /// Two characters with the same last byte differ whole.
  @Test(arguments: 0..<130) func aCharacterThatDiffersIsShownOrLeftOut(_ count: Int) throws {
    let before = "\u{E9}"
    let after = String(repeating: "y", count: count) + "\u{129}"
    let window = try #require(TextWindow(before, after, cut: 0))
    #expect(window.isWhole == (window.after == after))
  }

  /// Of any two texts: what is shown and what is left out make up both, and characters stay whole.
  @Test func theShownAndTheLeftOutMakeUpBoth() throws {
    var random = SeededRandom(seed: 5)
    let letters = ["a", "b", "\n", "é", "日", "👩‍👧", " "]
    for _ in 0..<3_000 {
      func text(_ most: Int) -> String {
        (0..<random.below(most)).map { _ in letters[random.below(letters.count)] }.joined()
      }
      let (head, tail) = (text(200), text(200))
      let (before, after) = (head + text(60) + tail, head + text(60) + tail)
      guard let window = TextWindow(before, after, cut: 40) else {
        #expect(before.utf8.elementsEqual(after.utf8))
        continue
      }
      let left = before.utf8.prefix(window.start)
      #expect(left.elementsEqual(after.utf8.prefix(window.start)))
      #expect(before.utf8.dropFirst(window.start).starts(with: window.before.utf8))
      #expect(after.utf8.dropFirst(window.start).starts(with: window.after.utf8))
      guard window.isWhole else { continue }
      let behind = before.utf8.dropFirst(window.start + window.before.utf8.count)
      #expect(
        behind.elementsEqual(after.utf8.dropFirst(window.start + window.after.utf8.count)))
    }
  }
}

extension String.UTF8View {
  /// How many bytes are in front of a text.
  fileprivate func count(before text: String) -> Int {
    let all = Array(self)
    let wanted = Array(text.utf8)
    let places = 0...all.count - wanted.count
    return places.first { all[$0..<$0 + wanted.count].elementsEqual(wanted) } ?? -1
  }
}
