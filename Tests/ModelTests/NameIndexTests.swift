import AnnalsModel
import Testing

/// A few names are kept in another form than many; both find the first of equal ones.
@Suite struct NameIndexTests {
  @Test(arguments: [1, 2, 15, 16, 17, 18, 100])
  func theFirstOfEqualNamesIsFound(count: Int) {
    let names = (0..<count).map { "name \($0)" }
    let index = NameIndex(names + names)
    for (place, name) in names.enumerated() { #expect(index[name] == place) }
    #expect(index["name"] == nil)
    #expect(index["name \(count)"] == nil)
  }

  @Test(arguments: [3, 15, 16, 17, 40]) func aCopyIsItsOwn(count: Int) {
    var index = NameIndex((0..<count).map { "name \($0)" })
    let before = index
    index.insert("other", at: count)
    var again = before
    again.insert("third", at: count)
    #expect(before["other"] == nil && before["third"] == nil)
    #expect(index["other"] == count && index["third"] == nil)
    #expect(again["third"] == count && again["other"] == nil)
    #expect(before["name \(count - 1)"] == count - 1)
  }

  @Test func namesAreComparedByTheirBytes() {
    // One letter of two scalars, and the same as one scalar: equal to Swift, but other bytes.
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    for filler in [0, 16] {
      var index = NameIndex((0..<filler).map { "filler \($0)" })
      let isComposedNew = index.insert(composed, at: 100)
      #expect(index[decomposed] == nil)
      let isDecomposedNew = index.insert(decomposed, at: 101)
      let isNewAgain = index.insert(composed, at: 102)
      #expect(isComposedNew && isDecomposedNew && !isNewAgain)
      #expect(index[composed] == 100)
      #expect(index[decomposed] == 101)
    }
  }
}
