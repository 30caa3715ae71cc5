import AnnalsEngine
import AnnalsModel
import Observation

/// An object of an editing context: its properties are read and set, and what is set is pending in
/// the context.
///
///     event.title = "Lunch"
///     event.guests.append(Reference(guest))
///
/// A context has one for each id, as long as somebody holds it, so all that show an object show the
/// same. A user interface that has read one is updated when the object changes: by a property that
/// is set, an undo, a refresh. Setting a property cannot throw; if it fails, since the object was
/// deleted or the disk cannot be read, `validate` and `save` throw why.
@dynamicMemberLookup
public final class EditableObject<R: Record> {
  /// The context that the object is pending in.
  public let context: EditingContext
  /// The object's id. That of a new object is provisional until it is saved.
  public private(set) var objectID: ObjectID
  private var record: R
  var isGone = false
  /// Nil until something was read, which nobody can have observed before.
  private var observation: ObservationRegistrar?

  init(_ object: Object<R>, in context: EditingContext) {
    self.context = context
    objectID = object.objectID
    record = object.value
  }

  /// The record as it is pending. Setting it sets the properties that differ.
  public var value: R {
    get {
      noteReading()
      return record
    }
    set { write(newValue) }
  }

  /// Whether the object is deleted: in the context, or by others as of its state. Its properties
  /// stay as they were.
  public var isDeleted: Bool {
    noteReading()
    return isGone
  }

  /// A reference to the object, for the properties of others.
  public var reference: Reference<R> { Reference(objectID) }

  /// The object as a value: what snapshots and fetches have.
  public var object: Object<R> { Object(objectID: objectID, value: value) }

  /// A property of the record.
  public subscript<V>(dynamicMember keyPath: KeyPath<R, V>) -> V { value[keyPath: keyPath] }

  /// A settable property of the record.
  public subscript<V>(dynamicMember keyPath: WritableKeyPath<R, V>) -> V {
    get { value[keyPath: keyPath] }
    set {
      var changed = record
      changed[keyPath: keyPath] = newValue
      write(changed, by: keyPath)
    }
  }

  /// Writes the properties in which a record differs; `keyPath` says that no other may.
  private func write(_ changed: R, by keyPath: PartialKeyPath<R>? = nil) {
    if isGone { return }
    var stored = changed
    do {
      let isWhole = try context.write(&stored, over: record, objectID, by: keyPath)
      guard isWhole else { return reload() }
      noteMutation { record = stored }
    } catch {
      // Observers see that it stayed as it was.
      if context.isSaving { return noteMutation {} }
      context.failure = context.failure ?? AnnalsError.translated(error)
    }
  }

  private func noteReading() {
    let registrar = observation ?? ObservationRegistrar()
    observation = registrar
    registrar.access(self, keyPath: \.value)
  }

  private func noteMutation(_ change: () -> Void) {
    guard let observation else { return change() }
    observation.withMutation(of: self, keyPath: \.value, change)
  }
}

@available(*, unavailable, message: "an object of a context belongs to its isolation domain")
extension EditableObject: Sendable {}

extension EditableObject: Observable, Identifiable {}

extension EditableObject: CustomStringConvertible {
  /// As that of the object as a value.
  public var description: String { object.description }
}

/// An object of a context, whatever its record type.
protocol AnyEditableObject: AnyObject {
  /// Whether the object is deleted.
  var isGone: Bool { get set }
  /// Reads the object's record anew, and tells observers if it may have changed.
  func reload()
  /// Has the object name itself by the id that it has got.
  func move(to reference: ObjectReference)
}

extension EditableObject: AnyEditableObject {
  func reload() {
    noteMutation {
      // What cannot be read stays as it was; reading it from the context says why.
      guard let current = try? context.session.transaction.object(R.self, objectID) as Object<R>??
      else { return }
      isGone = current == nil
      if let current { record = current.value }
    }
  }

  func move(to reference: ObjectReference) {
    objectID = ObjectID(
      store: objectID.store, entity: reference.entity, row: reference.row)
  }
}

/// An object that lives as long as somebody else holds it.
struct WeakEditableObject {
  weak var object: (any AnyEditableObject)?
}
