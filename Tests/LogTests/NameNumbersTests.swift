import AnnalsModel
import AnnalsTestSupport
import Testing

@testable import AnnalsLog

/// The numbers of names, against a dictionary.
struct NameNumbersTests {
  @Test func numbersAreThoseOfADictionary() {
    var random = SeededRandom(seed: 47)
    var numbers = NameNumbers()
    var names: [String] = []
    var known: [[UInt8]: NameNumber] = [:]
    func name() -> String {
      let length = Int.random(in: 0...4, using: &random)
      return String((0..<length).map { _ in "abé\u{301}日".randomElement(using: &random) ?? "a" })
    }
    for _ in 0..<20_000 {
      let asked = name()
      let number = numbers.number(of: asked, in: names)
      #expect(number == known[Array(asked.utf8)], "\(asked.debugDescription)")
      if number == nil {
        names.append(asked)
        known[Array(asked.utf8)] = NameNumber(names.count)
      }
    }
    #expect(names.count > 100)
  }

  @Test func manyNamesKeepTheirNumbers() {
    var numbers = NameNumbers()
    var names: [String] = []
    for place in 0..<5_000 {
      names.append("name \(place)")
      if place % 97 == 0 { #expect(numbers.number(of: names[place / 2], in: names) != nil) }
    }
    for (place, name) in names.enumerated() {
      #expect(numbers.number(of: name, in: names) == NameNumber(place + 1))
    }
    #expect(numbers.number(of: "name", in: names) == nil)
  }

  @Test func stringsThatOnlyLookAlikeDiffer() {
    var numbers = NameNumbers()
    let names = ["\u{E9}", "e\u{301}", ""]
    for _ in 0..<2 {
      for (place, name) in names.enumerated() {
        #expect(numbers.number(of: name, in: names) == NameNumber(place + 1))
      }
    }
    #expect(numbers.number(of: "e", in: names) == nil)
    #expect(numbers.number(of: "e", in: []) == nil)
  }

  /// No writer does this, and a file may have it all the same.
  @Test func ofANameThatIsThereTwiceTheLastNumberCounts() {
    var numbers = NameNumbers()
    #expect(numbers.number(of: "ann", in: ["ann", "ben", "ann"]) == 3)
  }
}
