import Annals
import AnnalsLog
import AnnalsModel

/// One request about one file. Each document is a method of it.
package struct Asking {
  package let file: InspectedFile
  package let parameters: RequestParameters
  package let cancellation: Cancellation
  /// How long a part of an answer that comes in parts may take.
  package var patience = Duration.milliseconds(800)
  /// What faults write before the name of an option: `--` on a command line.
  package var prefix = ""

  package init(
    _ file: InspectedFile, _ parameters: RequestParameters,
    _ cancellation: Cancellation = Cancellation()
  ) {
    self.file = file
    self.parameters = parameters
    self.cancellation = cancellation
  }

  /// The greatest number of things on a page.
  static let mostListed = 500

  func opened() throws -> OpenedStore { try file.opened() }

  /// `annals VERB FILE`.
  func command(_ verb: String) -> CommandWords { CommandWords(verb, file.shownPath) }

  /// The state that `at` names.
  func snapshot(of store: OpenedStore) throws -> Snapshot { try store.snapshot(parameters["at"]) }

  /// At how many characters texts are cut.
  func cut(_ standard: Int = ValueShowing.usualCut) throws -> Int {
    try parameters.count("cut", default: standard, within: 1...ValueShowing.longestCut)
  }

  /// Shows values of the store, for a page.
  func values(
    of store: OpenedStore, cut: Int, _ largeValues: any LargeValueSource
  ) -> ValueShowing {
    ValueShowing(.page(cut: cut), largeValues, departed: DepartedNames(in: store.version))
  }

  /// Shows changes of the store, for a page.
  func changeShowing(of store: OpenedStore, cut: Int) -> ChangeShowing {
    let newest = store.version.snapshot.reader
    return ChangeShowing(values: values(of: store, cut: cut, newest.largeValues), newest: newest)
  }

  func limit(_ standard: Int = 100, most: Int = Asking.mostListed) throws -> Int {
    try parameters.count("limit", default: standard, within: 0...most)
  }

  func offset() throws -> Int {
    try parameters.count("offset", default: 0, within: 0...Int(Int32.max))
  }

  /// The object that a parameter names: in the state, otherwise now, otherwise in the history.
  func object(
    _ name: String = "object", in snapshot: Snapshot, of store: OpenedStore
  ) throws -> ObjectReference {
    let text = try parameters.required(name)
    do {
      let argument = try ObjectArgument(text)
      if case .row(let entity, let row) = argument {
        guard
          let found = snapshot.schema.entity(named: entity)
            ?? store.store.schema.entity(named: entity)
        else { throw AnnalsError.unknownEntity(entity, in: store.store.schema) }
        return ObjectReference(entity: found.number, row: row)
      }
      if snapshot.schema.entity(named: argument.entity) != nil,
        let found = try argument.lookUp(in: snapshot.reader)
      {
        return found
      }
      let all = try argument.findAll(inHistoryOf: store.store)
      // Of several that had the key, the one that was there last before the moment.
      let known = try all.first { try store.version.knows($0, by: snapshot.number) }
      guard let found = known ?? all.first else {
        throw RequestFault("there is no object \(text)", .notFound)
      }
      return found
    } catch var fault as RequestFault {
      fault.parameter = name
      if fault.kind == .failed { fault.kind = .notFound }
      throw fault
    }
  }

  /// An object as it is named in a state, or, if it is not there, as it is named now.
  func shown(
    _ object: ObjectReference, in snapshot: Snapshot, of store: OpenedStore
  ) throws -> ShownObject {
    if try snapshot.reader.exists(object) {
      return try ShownObject(object, in: snapshot.reader, labelled: true)
    }
    var shown = try ShownObject(object, in: store.version.snapshot.reader, labelled: true)
    if shown.name == shown.id, let change = try store.version.lastChange(toExistenceOf: object) {
      let last = DepartedNames.Departed(change)
      shown = ShownObject(last.name, label: shown.label ?? last.label, exists: false)
    }
    shown.exists = false
    return shown
  }
}

extension StoreVersion {
  /// Whether the history up to a transaction has changes of an object.
  fileprivate func knows(_ object: ObjectReference, by number: Int64) throws -> Bool {
    let id = ObjectID(store: token.store, entity: object.entity, row: object.row)
    let history = History(
      version: self, after: view.base, through: max(number, view.base), condition: .touches(id))
    var cursor = try history.makeCursor()
    return try cursor.next() != nil
  }
}
