import Foundation
import Measuring
import Workload

/// The program of a peer: the workload on tables that a library of keys and values keeps.
///
///     NAME run FOLDER [--sync full|off] [--phases write,history,past,prune]
///     NAME open FOLDER
///     NAME queries FOLDER
public enum KeyValueProgram {
  /// Runs what the command line says. `open` opens the tables in a folder, new ones if it says so.
  public static func main(
    _ name: String,
    open: (_ folder: String, _ isDurable: Bool, _ isNew: Bool) throws -> any OrderedTables
  ) {
    do {
      let options = try Options(["sync", "posts", "operations", "phases"])
      guard options.words.count == 2 else { throw Failure("\(name) run|open|queries FOLDER") }
      let sync = try options.choice("sync", "full", "off")
      let recorder = Recorder(peer: name, configuration: "sync=\(sync)")
      let folder = options.words[1]
      let isDurable = sync == "full"
      if options.words[0] == "open" {
        let base = Footprint.resident
        let start = Mark()
        let tables = try open(folder, isDurable, false)
        return try readFirst(tables, recorder, base, start)
      }
      let workload = Workload(
        posts: try options.number("posts", 100_000),
        operations: try options.number("operations", 20_000))
      if options.words[0] == "queries" {
        try QueryPhases(open(folder, false, true), recorder, workload).run()
        return
      }
      let phases = Set(options.list("phases") ?? ["write", "history", "past", "prune"])
      let tables = try open(folder, isDurable, phases.contains("write"))
      try RunSession(tables, recorder, workload, phases).run()
    } catch {
      FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
      exit(1)
    }
  }

  private static func readFirst(
    _ tables: any OrderedTables, _ recorder: Recorder, _ base: Int, _ start: Mark
  ) throws {
    let posts = PostTables(tables)
    try tables.read {
      var found = 0
      try tables.scan(.posts, from: nil, backward: false) { _, row in
        var reader = PackedReader(row)
        found = reader.touch(.ofNewPost) > 0 ? 1 : 0
        return false
      }
      try expect("first objects", found, is: 1)
      recorder.record("9 open to first object", items: 1, Mark() - start)
      let page = try QueryPhases.readPage(posts, from: 0, count: 200) { _ in }
      try expect("first page", page, is: 200)
      recorder.record("9a open to first 200 by date", items: 1, Mark() - start)
    }
    recorder.megabytes("9c memory after open", Footprint.resident - base)
  }
}
