import AnnalsModel
import Testing

@Suite struct TokenTests {
  static let store = RawUUID(high: 0x6F96_19FF_8B86_D011, low: 0xB42D_00C0_4FC9_64FF)

  @Test func theTextFormCarriesEverything() {
    let token = Token(store: Self.store, number: 1234, opening: 0xABC)
    #expect(token.description == "1234@6F9619FF-8B86-D011-B42D-00C04FC964FF+abc")
    #expect(Token(token.description) == token)
    let short = Token(store: Self.store, number: 0, opening: 0)
    #expect(short.description == "0@6F9619FF-8B86-D011-B42D-00C04FC964FF")
    #expect(Token(short.description) == short)
    #expect(Token(token.description.lowercased()) == token)
  }

  @Test(arguments: [
    "", "12", "@6F9619FF-8B86-D011-B42D-00C04FC964FF", "-1@6F9619FF-8B86-D011-B42D-00C04FC964FF",
    "1@6F9619FF-8B86-D011-B42D-00C04FC964F", "1@6F9619FF8B86D011B42D00C04FC964FF",
    "1@6F9619FF-8B86-D011-B42D-00C04FC964FF+", "1@6F9619FF-8B86-D011-B42D-00C04FC964FF+0",
    "1@6F9619FF-8B86-D011-B42D-00C04FC964FF+1+2", "1@2@6F9619FF-8B86-D011-B42D-00C04FC964FF",
    "99999999999999999999@6F9619FF-8B86-D011-B42D-00C04FC964FF",
  ])
  func otherTextIsNoToken(text: String) {
    #expect(Token(text) == nil)
  }

  @Test func tokensOfAStoreAreOrderedByNumber() {
    let first = Token(store: Self.store, number: 2, opening: 9)
    let second = Token(store: Self.store, number: 10, opening: 1)
    #expect(first < second)
  }
}
