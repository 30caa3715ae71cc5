import Annals
import AnnalsState

extension ShownObject {
  /// The longest label, in characters.
  static let longestLabel = 80

  /// An object as it is named in a state; with a label if that is wanted and the entity has a
  /// display attribute.
  package init(
    _ object: ObjectReference, in state: StateReader, labelled: Bool = false,
    cut: Int = ShowingLimits().name
  ) throws {
    let name = try state.name(of: object)
    let exists = try state.exists(object)
    var label: String?
    if labelled, exists, let entity = state.state.schema.entity(numbered: object.entity),
      let display = entity.displayName.flatMap({ entity.attribute(named: $0) })
    {
      label = try state.value(of: object, display).shortLabel
    }
    self.init(name, label: label, exists: exists, cut: cut)
  }

  /// An object of this name, cut at so many characters.
  package init(
    _ name: ObjectName, label: String? = nil, exists: Bool, cut: Int = ShowingLimits().name
  ) {
    self.init(
      name: name.text.clipped(to: cut), entity: name.entity, row: name.row, label: label,
      exists: exists)
  }
}

extension Value {
  /// The value as a label; nil for one that shows nothing, and for one that was not read.
  var shortLabel: String? {
    switch self {
    case .null, .erased, .large, .object, .objects, .data: return nil
    default:
      let text = plainText
      return text.isEmpty ? nil : text.clipped(to: ShownObject.longestLabel)
    }
  }
}

extension String {
  /// The first so many characters (Unicode scalars), and a dot of ellipsis if there are more.
  package func clipped(to count: Int) -> String {
    guard utf8.count > count, unicodeScalars.count > count else { return self }
    return String(unicodeScalars.prefix(count)) + "…"
  }
}
