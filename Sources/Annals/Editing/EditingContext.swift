import AnnalsEngine
import AnnalsModel
import Observation

/// Changes that are made now and saved later: a form with *Save* and *Cancel*, an open document.
///
///     let form = try EditingContext(store, author: "ui")
///     let event = try form.object(Event.self, id)
///     event?.title = "Lunch"          // pending; nobody else sees it
///     if try form.validate().isEmpty { try form.save() }
///
/// A context begins with the newest state and keeps it: what others write shows after `refresh`.
/// What is pending is read as from a `Snapshot`, with fetches, groups and inverses, and with what
/// delete rules do already followed. Other contexts, snapshots and processes see it once `save` has
/// returned. A context holds no lock; it may stay open for days, while others write, prune and
/// compact.
///
/// Objects are edited by `EditableObject`, of which a context has one per id. Both can be observed:
/// a user interface that reads them is updated when they change.
///
/// A context belongs to one isolation domain: it is not `Sendable`, so the compiler refuses to
/// share it between threads. Making one costs O(entities), whatever the store's size.
public final class EditingContext {
  /// The store that the context is of.
  public let store: Store
  /// The context that this one saves into; nil for one that saves into the store.
  public let parent: EditingContext?
  let session: EditSession
  /// Nil until something was read, which nobody can have observed before.
  private var observation: ObservationRegistrar?
  /// The objects that somebody holds, by their ids.
  var edited: [ObjectReference: WeakEditableObject] = [:]
  /// How many there were after those were dropped that nobody holds.
  var editedCount = 0
  /// Lists of rows that are kept up to date, until one says that nobody holds it.
  var followers: [ObjectIdentifier: (EditedObjects) -> Bool] = [:]
  /// The object that is setting its own properties.
  var writing: ObjectReference?
  /// The change of an operation under way that may give objects other ids.
  private var held: EditedObjects?
  private var isHeld = false
  /// Why a property that was set could not be written.
  var failure: AnnalsError?

  /// What one change has touched.
  struct EditedObjects {
    /// The objects that may have changed, besides those that others have written.
    let objects: [ObjectReference]
    /// The version that the context was based on before.
    let version: StoreVersion
  }

  /// A context on the newest state that is acknowledged here, without pending changes.
  ///
  /// - Parameters:
  ///   - store: the store.
  ///   - author: who makes the changes that `save` commits.
  ///   - context: in what context.
  ///   - group: a name that joins the saves, if the author writes nothing else in between, for
  ///     `Store.undo`.
  ///   - metadata: key-value pairs to store with them.
  /// - Throws: `.unsupported` for a store that is open for reading only, `.invalidArgument` for a
  ///   group without a name, or with one of more than 255 bytes.
  public init(
    _ store: Store, author: String? = nil, context: String? = nil, group: String? = nil,
    metadata: [String: Value] = [:]
  ) throws(AnnalsError) {
    guard !store.options.isReadOnly else {
      throw AnnalsError(
        .unsupported, "the store is open for reading only; an editing context could not save")
    }
    self.store = store
    parent = nil
    session = EditSession(
      on: store.version,
      try TransactionOrigin(author: author, context: context, group: group, metadata: metadata))
    follow()
  }

  private init(in parent: EditingContext) {
    store = parent.store
    self.parent = parent
    session = EditSession(in: parent.session)
    follow()
  }

  private func follow() {
    var shown = session.version
    session.didChange = { [unowned self] objects in
      // Whether nobody asks which objects they are: one that sets its properties shows them itself.
      let isUnseen = followers.isEmpty && (edited.isEmpty || writing != nil)
      let change = EditedObjects(objects: isUnseen ? [] : objects(), version: shown)
      shown = session.version
      changed(change)
    }
  }

  /// A context on what is pending here, which saves into this one: a dialog over a form. What is
  /// edited here meanwhile shows there after `refresh`.
  public func child() -> EditingContext {
    noteReading()
    return EditingContext(in: self)
  }

  /// Key-value pairs stored with the transaction that `save` commits.
  public var metadata: [String: Value] {
    get { session.transaction.metadata }
    set { session.transaction.metadata = newValue }
  }

  // MARK: Editing

  /// Makes changes as one step, which `undo` takes back as a whole: any that the closure of a write
  /// may make, but for the schema's.
  ///
  ///     try form.edit("Invite All") { tx in try tx.add(guest, to: party, \.guests) }
  ///
  /// If the closure throws, its error is thrown, and nothing is changed. Inside it the context
  /// shows the state before; changing that throws `.nestedWrite`. Costs what it touches.
  @discardableResult
  public func edit<Result>(
    _ name: String = "Edit", _ body: (WriteTransaction) throws -> Result
  ) throws -> Result {
    try session.edit(name, body)
  }

  /// As the other form, for a closure that returns nothing: so an edit can be the only expression
  /// of a closure whose own result is `Void`.
  public func edit(
    _ name: String = "Edit", _ body: (WriteTransaction) throws -> Void
  ) throws {
    _ = try session.edit(name, body)
  }

  /// Joins the edits that a closure makes by this context and its objects to one step. If it
  /// throws, they are taken back, and its error is thrown.
  @discardableResult
  public func group<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
    let known = Set(edited.keys)
    do {
      return try session.group(name, body)
    } catch {
      forgetGone(Set(edited.keys).subtracting(known))
      throw error
    }
  }

  /// Deletes an object, and what follows by delete rules. Throws `.noSuchObject` if it does not
  /// exist. Whether a rule denies it is found by `validate` and `save`: what refers to it may be
  /// deleted, too, until then.
  public func delete(_ id: ObjectID) throws(AnnalsError) {
    let name = store.schema.entity(numbered: id.entity)?.name
    try AnnalsError.translating {
      try session.edit("Delete \(name ?? "Object")") { try $0.delete(id) }
    }
  }

  // MARK: Undo

  /// Takes the last step back. Returns false if there is none.
  ///
  /// Each call that edits is a step; property after property set alike is one, as text is typed. A
  /// deleted object comes back under its own id. Steps survive `save`, after which what they take
  /// back is pending, unless others have written meanwhile or they have values over 4 KiB that were
  /// saved; and they survive `refresh`, after which they take back what was done here.
  @discardableResult
  public func undo() throws(AnnalsError) -> Bool { try session.undo() }

  /// Repeats the step that was taken back last, unless something was edited since. Returns false if
  /// there is none.
  @discardableResult
  public func redo() throws(AnnalsError) -> Bool { try session.redo() }

  /// The name of the step that `undo` would take back; nil if there is none.
  public var undoName: String? {
    noteReading()
    return session.undoSteps.last?.name
  }

  /// The name of the step that `redo` would repeat; nil if there is none.
  public var redoName: String? {
    noteReading()
    return session.redoSteps.last?.name
  }
}

@available(*, unavailable, message: "an editing context belongs to one isolation domain")
extension EditingContext: Sendable {}

// Observation is of the whole context: what was read of it may depend on any change.
extension EditingContext: Observable {
  /// Stands for everything that is pending.
  private var pending: Int { session.revision }

  /// Notes for an observer that something of what is pending was read.
  func noteReading() {
    let registrar = observation ?? ObservationRegistrar()
    observation = registrar
    registrar.access(self, keyPath: \.pending)
  }

  private func changed(_ change: EditedObjects) {
    if isHeld { return held = change }
    observation?.withMutation(of: self, keyPath: \.pending) {}
    if change.version === session.version {
      for object in change.objects where object != writing { edited[object]?.object?.reload() }
    } else {
      for object in edited.values { object.object?.reload() }
    }
    for (id, follow) in followers where !follow(change) { followers[id] = nil }
  }

  /// Runs what may give objects other ids, and lets those that are edited follow.
  func following(_ body: () throws -> CommitResult) rethrows -> CommitResult {
    isHeld = true
    let isNew = Set(edited.keys.filter(session.isProvisional))
    let result: CommitResult
    do { result = try body() } catch {
      isHeld = false
      throw error
    }
    isHeld = false
    forgetGone(isNew)
    var moved: [ObjectReference: WeakEditableObject] = [:]
    for (id, object) in edited {
      let new = result.moves[id] ?? result.mergedObjects[id] ?? id
      if new != id { object.object?.move(to: new) }
      // One that was united with a stored object leaves the id to that.
      if moved[new]?.object == nil || new == id { moved[new] = object }
    }
    edited = moved
    if let change = held.take() { changed(change) }
    return result
  }

  /// Forgets those of some new objects that are gone: others may get their ids.
  private func forgetGone(_ isNew: Set<ObjectReference>) {
    for id in isNew where edited[id]?.object?.isGone ?? true { edited[id] = nil }
  }

  /// Forgets new objects, whose ids others may get, once `body` has been called with each.
  func dropProvisional(_ body: (any AnyEditableObject) -> Void = { _ in }) {
    for (id, object) in edited where session.isProvisional(id) {
      if let object = object.object { body(object) }
      edited[id] = nil
    }
  }
}
