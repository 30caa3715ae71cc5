import Annals
import Testing

@testable import AnnalsCommand

/// What `put` refuses as a likely mistake, and how it is told that it is none.
@Suite struct PutTests {
  /// `title:=5` made a string one of any type, and the program whose record has it as a `String`
  /// could not open the store any more.
  @Test func aTypeChangesOnlyWhenToldTo() throws {
    let folder = try CommandTests.posts()
    let refused = folder.run("put", "@posts.annals", "Post/a", "title:=5")
    #expect(refused.status == .couldNotRun && refused.output == "")
    #expect(
      refused.errors
        == "annals: Post.title is of type string, and `5` is of type int. title=5 sets the text. "
        + "To make it an attribute of any type, which programs that know it as string cannot read: "
        + "--widen\n")
    #expect(folder.schema("@posts.annals").contains(##""type":"any""##) == false)
    let number = folder.run("put", "@posts.annals", "Post/a", "stars:=\"many\"")
    #expect(
      number.errors.hasPrefix("annals: Post.stars is of type int64, and `many` is of type string."))
    let text = folder.run("put", "@posts.annals", "Post/a", "title=5")
    #expect(text.status == .done && text.errors == "")
    let told = folder.run("put", "@posts.annals", "Post/a", "title:=5", "--widen")
    #expect(told.status == .done)
    #expect(told.errors == "annals: Post.title is of type any now; it was string\n")
    // What nothing but a program can have made is not widened at all.
    try folder.write(
      ##"{"entities":[{"name":"T","attributes":[{"name":"id","type":"string","unique":true},"##
        + ##"{"name":"day","type":"date"}]}]}"##, to: "schema")
    try folder.write("", to: "none")
    folder.run("import", "@t.annals", "@none", "--schema", "@schema")
    let date = folder.run("put", "@t.annals", "T/a", "day:=5", "--widen")
    #expect(date.status == .couldNotRun)
  }

  @Test func anEntityIsAddedBesideOthersOnlyWhenToldTo() throws {
    let folder = try CommandTests.posts()
    let typed = folder.run("put", "@posts.annals", "Pots/c", "title=x")
    #expect(typed.status == .couldNotRun)
    #expect(
      typed.errors == "annals: there is no entity Pots; did you mean Post? To add it: --new\n")
    let other = folder.run("put", "@posts.annals", "Event/17", "title=x")
    #expect(other.errors == "annals: there is no entity Event. To add it: --new\n")
    let row = folder.run("put", "@posts.annals", "post#1", "title=x", "--new")
    #expect(row.errors == "annals: there is no entity post; did you mean Post?\n")
    #expect(folder.run("log", "@posts.annals").output.hasPrefix("transaction 4 "))
    #expect(folder.run("put", "@posts.annals", "Event/17", "title=x", "--new").status == .done)
    #expect(folder.run("get", "@posts.annals", "Event/17").status == .done)
  }

  @Test func aKeyIsNotEmpty() throws {
    let folder = try CommandTests.posts()
    let made = folder.run("put", "@posts.annals", "Post/", "title=x")
    #expect(
      made.errors == "annals: the key of Post/ is empty; write Post/KEY to make an object\n")
    let first = folder.run("put", "@new.annals", "Post/", "title=x")
    #expect(first.status == .couldNotRun)
    #expect(folder.run("stat", "@new.annals").status == .couldNotRun, "the file is not left behind")
    for value in ["id=", "id:=\"\"", "id:= \"\" "] {
      let changed = folder.run("put", "@posts.annals", "Post/a", value)
      #expect(changed.status == .couldNotRun, "\(value)")
      #expect(changed.errors == "annals: Post.id is the key, which cannot be made empty\n")
    }
    // One that an import brought can be worked with.
    try folder.write(
      ##"{"changes":[{"op":"insert","entity":"Post","id":"","set":{"title":"x"}}]}"##, to: "line")
    folder.run("import", "@posts.annals", "@line")
    #expect(folder.run("put", "@posts.annals", "Post/", "title=y").status == .done)
  }

  @Test func clearingMakesNoObject() throws {
    let folder = try CommandTests.posts()
    let cleared = folder.run("put", "@posts.annals", "Post/none", "--unset", "title")
    #expect(cleared.status == .couldNotRun)
    #expect(
      cleared.errors
        == "annals: there is no object Post/none to clear anything of; to make it, set something "
        + "or leave --unset out\n")
    #expect(folder.run("put", "@posts.annals", "Post/a", "--unset", "title").status == .done)
    #expect(folder.run("put", "@posts.annals", "Post/bare").status == .done)
    let both = folder.run("put", "@posts.annals", "Post/c", "stars:=1", "--unset", "title")
    #expect(both.status == .done)
    let near = folder.run("put", "@posts.annals", "Post/a", "--unset", "titel")
    #expect(near.errors.contains("no property titel to clear; did you mean title?"))
  }

  @Test func anAttributeThatIsAlmostThereIsNamed() throws {
    let folder = try CommandTests.posts()
    let typed = folder.run("put", "@posts.annals", "Post/a", "stars:=5", "titel=x")
    #expect(typed.status == .couldNotRun)
    #expect(
      typed.errors == "annals: Post has no property titel; did you mean title? To add it: --new\n")
    #expect(folder.run("log", "@posts.annals").output.hasPrefix("transaction 4 "))
    let added = folder.run("put", "@posts.annals", "Post/a", "titel=x", "--new")
    #expect(
      added.errors
        == "annals: added the attribute Post.titel (string); there is Post.title as well\n")
    // Counted names and short ones are no slips.
    for value in ["title2=x", "title3=x", "x=1", "y=2"] {
      #expect(folder.run("put", "@posts.annals", "Post/a", value).status == .done, "\(value)")
    }
  }

  @Test func whatIsDerivedIsNotSet() throws {
    let folder = try CommandFolder()
    let derived = #"{"function":"count","of":"^Entry.account"}"#
    func schema(_ derivation: String) -> String {
      #"{"entities":[{"name":"Account","attributes":[{"name":"id","type":"string","unique":true},"#
        + #"{"name":"entries","type":"int64","derived":\#(derivation)}]},"#
        + #"{"name":"Entry","attributes":[{"name":"id","type":"string","unique":true}],"#
        + #""relationships":[{"name":"account","to":"Account"}]}]}"#
    }
    try folder.write(schema(#"{"of":"^Entry.account"}"#), to: "half.json")
    try folder.write("", to: "none.jsonl")
    let half = folder.run("import", "@h.annals", "@none.jsonl", "--schema", "@half.json")
    #expect(half.status == .couldNotRun && half.errors.contains("has no `function`: count, sum"))
    try folder.write(schema(derived), to: "s.json")
    let imported = folder.run("import", "@s.annals", "@none.jsonl", "--schema", "@s.json")
    #expect(imported.status == .done, "\(imported)")
    #expect(folder.run("put", "@s.annals", "Account/a").status == .done)
    for change in ["entries=5", "entries:=null"] {
      let set = folder.run("put", "@s.annals", "Account/a", change)
      #expect(set.status == .couldNotRun)
      #expect(
        set.errors
          == "annals: Account.entries is derived, count(^Entry.account), and cannot be set; change "
          + "what it is computed from\n")
    }
  }

  @Test func mistakesAreCounted() {
    let cases = [
      ("", "", 0), ("a", "", 1), ("", "ab", 2), ("post", "post", 0), ("pots", "post", 1),
      ("pst", "post", 1), ("posst", "post", 1), ("past", "post", 1), ("event", "post", 4),
      ("ca", "abc", 3), ("abcd", "badc", 2),
    ]
    for (a, b, mistakes) in cases {
      #expect(NearName.distance(Array(a.unicodeScalars), Array(b.unicodeScalars)) == mistakes)
    }
    #expect(NearName.nearest(to: "POST", among: ["Posts", "Post"]) == "Post")
    #expect(NearName.nearest(to: "Pos", among: ["Pot", "Post", "Pod"]) == "Pod")
    #expect(NearName.nearest(to: "Postcard", among: ["Post"]) == nil)
    #expect(NearName.nearest(to: "x", among: []) == nil)
  }
}
