import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// Mistakes that people made at the command, and what it says of each: compared as a whole with
/// Tests/Golden/mistakes.txt.
@Suite struct MistakeTests {
  static let mistakes = """
    lgo @d.annals
    hlep
    help blmae
    log
    log @d.annals --autor ann
    log @d.annals --auhtor=ann
    log @d.annals -x
    log @d.annals -n
    log @d.annals -n many
    log @d.annals --limit -1
    log @d.annals 3
    log @d.annals 3...5
    log @d.annals --since 2020
    log @d.annals --since lately
    log @d.annals --entity Pots
    log @d.annals --property titel
    log @d.annals --property Post.title
    log @d.annals --oneline --format jsonl
    log @nothing.annals
    log @text.annals
    show @d.annals
    show @d.annals 99
    show @d.annals Post/
    blame @d.annals Post
    blame @d.annals Post/zzz
    blame @d.annals Pots/a
    state @d.annals --at 99999
    state @d.annals --at 2019
    state @d.annals --at 2019-13
    state @d.annals --entity Pots
    get @d.annals Post/b/title
    query @d.annals Pots
    query @d.annals Post --where titel==1
    query @d.annals Post --where title
    query @d.annals Post --where (title=="x"
    query @d.annals Post --sort titel
    put @d.annals Pots/a title=x
    put @d.annals Post/ title=x
    put @d.annals Post/a title
    put @d.annals Post/a days:=three
    put @d.annals Post/a days:=x --unset
    delete @d.annals Post/zzz
    prune @d.annals
    prune @d.annals --before 99
    prune @d.annals --before 2
    prune @d.annals --dry-run --befor 2
    revert @d.annals 99
    index @d.annals add Post byTitle -title
    index @d.annals drop Post nothing
    query @d.annals Post --group-by title --sort days
    query @d.annals Post --sum days --sort title
    timeline @d.annals --entity Post
    timeline @d.annals --lifetimes --svg - --format jsonl
    import @d.annals @nothing.jsonl
    import @new.annals @text.annals
    export @d.annals --afer 2
    backup @d.annals @d.annals
    ship @d.annals
    ship @d.annals @f --every 1s
    restore @d.annals @x.annals
    restore @nothing @x.annals --at yesterdy
    salvage @d.annals @d.annals
    consumers @d.annals remove nobody
    retain @d.annals --days 0
    verify @text.annals
    set @d.annals Post/a title=x
    history @d.annals
    log @d.annals --nopager
    put @d.annals Post/a title=x -m hi
    state @d.annals Post
    schema @d.annals Post
    get @d.annals Post a
    query @d.annals Post title=="x"
    export @d.annals out.jsonl
    state @d.annals --where title==1
    log @d.annals HEAD
    log @d.annals 2..1
    log @d.annals --since 2 --until 1
    diff @d.annals 1...2
    show @d.annals hed
    show @d.annals Post
    show @d.annals 1..2
    show @d.annals base
    state @d.annals --entity Post --at 2019-10-21
    erase @d.annals Post/a --property titel --reason x --dry-run
    put @d.annals Post/c id=d
    put @d.annals Post/b id=a
    index @d.annals drop Post id
    import @d.annals @entity.jsonl
    import @d.annals @property.jsonl
    import @d.annals @type.jsonl
    import @d.annals @again.jsonl
    import @d.annals @again.jsonl --schema @none.json
    """

  @Test func eachIsToldWhatIsWrongAndWhatToDo() throws {
    let folder = try CommandFolder()
    folder.run("put", "@d.annals", "Post/a", "title=Fog", "days:=3", "--author", "ann")
    folder.run("put", "@d.annals", "Post/b", "title=Mist", "--author", "me")
    try folder.write("This is a text, and no store at all.\n", to: "text.annals")
    for (name, change) in [
      ("entity", #""op":"insert","entity":"Pots","id":"1","set":{}"#),
      ("property", #""op":"update","entity":"Post","id":"a","set":{"titel":"x"}"#),
      ("type", #""op":"update","entity":"Post","id":"a","set":{"days":"three"}"#),
      ("again", #""op":"insert","entity":"Post","id":"a","set":{}"#),
    ] {
      try folder.write(#"{"changes":[{\#(change)}]}"#, to: "\(name).jsonl")
    }
    var text = ""
    for mistake in MistakeTests.mistakes.split(separator: "\n") {
      let run = folder.run(mistake.split(separator: " ").map(String.init))
      #expect(run.status != .done && !(run.errors + run.output).isEmpty, "\(mistake): \(run)")
      text += "$ annals \(mistake)\n\(run.output)\(run.errors)-> \(run.status.rawValue)\n\n"
    }
    let expected = try golden(
      packageFolder.appending(path: "Tests/Golden/mistakes.txt"), recording: text)
    for (told, wanted) in zip(text.split(separator: "\n\n"), expected.split(separator: "\n\n")) {
      #expect(told == wanted)
    }
    #expect(text == expected, "set ANNALS_RECORD to write it anew, and read what changed")
  }
}
