import Annals
import AnnalsExchange
import ArgumentParser

struct PutCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Inserts an object, or updates it; makes the file if there is none.",
    discussion: """
      NAME=TEXT sets a property to a text, or to what the text says for its type: a number, true \
      or false, a date, a UUID, base64. NAME:=JSON sets it to a JSON value. A date is written as \
      in a TOKEN: 2019-10-22T18:15:04Z, 2019-10-22 20:15 (local time), or 2019-10-22 for its first \
      moment. \
      Entities and attributes that are not there yet are added.
      """)

  @Argument(help: "The store.") var file: String
  @Argument(help: "The OBJECT: Post/7, or Post#7 to update.") var object: String
  @Argument(help: "NAME=TEXT or NAME:=JSON.")
  var values: [String] = []
  @Option(parsing: .unconditionalSingleValue, help: "Clear this property.") var unset: [String] = []
  @OptionGroup var author: AuthorArguments

  func run(_ console: Console) throws -> ExitStatus {
    let argument = try ObjectArgument(object)
    let assignments = try values.map { try Assignment($0) } + unset.map { Assignment(clearing: $0) }
    for (index, assignment) in assignments.enumerated()
    where assignments[..<index].contains(where: { $0.name.hasSameBytes(as: assignment.name) }) {
      throw CommandFailure("`\(assignment.name)` is set twice; name it once", status: .usage)
    }
    let location = StoreLocation.file(file)
    let store = try Store(
      location, creates: true, options: StoreOptions(), environment: console.store)
    defer { try? store.close() }
    let before = store.token
    let schema = store.schema
    let token: Token
    do {
      token = try store.commit(author: console.author(author.author), metadata: author.metadata) {
        do {
          try $0.put(argument, assignments, zone: console.zone)
        } catch let fault as InputFault {
          throw CommandFailure(fault.reason)
        }
      }.token
    } catch {
      store.discardIfUnused()
      throw error
    }
    try store.close()
    for entity in store.schema.entities {
      let known = schema.entity(numbered: entity.number)
      for attribute in entity.attributes where known != nil {
        let name = "\(entity.name).\(attribute.name)"
        let before = known?.attributes.first { $0.number == attribute.number }
        if let before, before.type != attribute.type {
          console.report("\(name) is of type \(attribute.type) now; it was \(before.type)")
        } else if before == nil {
          console.report("added the attribute \(name) (\(attribute.type))")
        }
      }
    }
    if token == before {
      try console.output.line("nothing to change")
    } else {
      try console.output.line("transaction \(token.number)")
    }
    return .done
  }
}
