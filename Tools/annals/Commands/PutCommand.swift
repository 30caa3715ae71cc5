import Annals
import AnnalsExchange
import AnnalsInspector
import AnnalsReplication
import ArgumentParser

struct PutCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Inserts or updates an object; creates the file if there is none.",
    discussion: """
      NAME=TEXT sets a property to a text, or to the value of the text in the property's type: a \
      number, true or false, a date, a UUID, base64. NAME:=JSON sets it to a JSON value. A date is \
      written as in a TOKEN: 2019-10-22T18:15:04Z, 2019-10-22 20:15 (local time), now, or \
      2019-10-22 for the start of the day. --from NAME=PATH sets it to the bytes of a file, of any \
      length, and NAME=- to those of standard input.

      Missing attributes are added, and so is the first entity of a store. Another entity needs \
      --new, and so does an attribute with almost the name of another. A value of another type \
      than its attribute's needs --widen.
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The OBJECT: Post/7, or Post#7 to update.") var object: String
  @Argument(help: "NAME=TEXT or NAME:=JSON.")
  var values: [String] = []
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Set a property to the bytes of a file.", valueName: "name=path"))
  var from: [String] = []
  @Option(parsing: .unconditionalSingleValue, help: "Clear this property.") var unset: [String] = []
  @Flag(help: "Add an entity, or an attribute that has almost the name of another.") var new = false
  @Flag(help: "Widen an attribute to any type if its new value has another type.")
  var widen = false
  @Flag(help: "Write to a replica of a shared log, which leaves the log with that.")
  var leaveLog = false
  @OptionGroup var author: AuthorArguments
  @OptionGroup var undo: GroupArguments

  func run(_ console: Console) throws -> ExitStatus {
    let argument = try ObjectArgument(object)
    let assignments = try values.map { try Assignment($0) } + unset.map { Assignment(clearing: $0) }
    let inputs = try from.map { try PutInput($0) }
    let names = assignments.map(\.name) + inputs.map(\.name)
    for (index, name) in names.enumerated()
    where names[..<index].contains(where: { $0.hasSameBytes(as: name) }) {
      throw CommandFailure("`\(name)` is set twice; name it once", status: .usage)
    }
    guard inputs.filter(\.isStandardInput).count < 2 else {
      throw CommandFailure("standard input can be read once; name it once", status: .usage)
    }
    var options = StoreOptions()
    options.leavesSharedLog = leaveLog
    let store = try console.openOrCreate(file, options)
    defer { try? store.close() }
    if !leaveLog {
      do {
        try console.refuseReplica(store, file)
      } catch {
        store.discardIfUnused()
        throw error
      }
    }
    // Other processes may write until the transaction begins.
    var before = store.token
    let schema = store.schema
    let token: Token
    do {
      token = try store.commit(
        author: console.author(author.author), group: undo.group, metadata: author.metadata
      ) {
        before = store.token
        do {
          let permissions = PutPermissions(newNames: new, widening: widen)
          try $0.put(
            argument, assignments, reading: (console.moment, console.day), permitting: permissions)
          try $0.put(argument, from: inputs, console, permitting: permissions)
        } catch let fault as InputFault {
          throw CommandFailure(fault.reason)
        }
      }.token
    } catch {
      store.discardIfUnused()
      throw error
    }
    if leaveLog { try store.leaveLog() }
    try store.close()
    console.report(store.schema, besides: schema)
    if token == before {
      try console.output.line("nothing to change")
    } else {
      try console.lineOfTransaction(token.number)
    }
    return .done
  }
}
