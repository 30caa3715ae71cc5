/// Why a schema cannot be what was asked: every reason, not only the first.
public struct SchemaError: Error, Hashable, Sendable {
  /// The reasons, in the order of the schema; never empty.
  public var conflicts: [SchemaConflict]

  /// The error of these reasons.
  public init(_ conflicts: [SchemaConflict]) {
    self.conflicts = conflicts
  }
}

extension SchemaError: CustomStringConvertible {
  /// One line for each reason.
  public var description: String {
    conflicts.map(\.description).joined(separator: "\n")
  }
}

/// One reason why a schema cannot be what was asked, by the name of what is in the way.
public struct SchemaConflict: Hashable, Sendable {
  /// What kind of reason this is.
  public var kind: Kind
  /// The name of the entity.
  public var entity: String
  /// The name of the attribute, relationship or index; nil where the entity itself is meant.
  public var property: String?
  /// What is wrong and what would be right, as the end of a sentence that begins with the name.
  public var reason: String

  package init(_ kind: Kind, _ entity: String, _ property: String? = nil, _ reason: String) {
    self.kind = kind
    self.entity = entity
    self.property = property
    self.reason = reason
  }
}

extension SchemaConflict: CustomStringConvertible {
  /// The name of what is in the way, then the reason.
  public var description: String {
    property.map { "\(entity).\($0): \(reason)" } ?? "\(entity): \(reason)"
  }
}

extension SchemaConflict {
  /// A kind of reason; an open set, compared with `==`.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    private enum Base: String {
      case invalidName, duplicateName, unknownName, invalidDefault, invalidValidation, invalidIndex
      case incompatibleType, incompatibleRelationship, incompatibleIndex
      case missingDefault, notUnique, ambiguousRename, inUse, tooMany
    }

    private var base: Base

    private init(_ base: Base) {
      self.base = base
    }

    /// An empty name, one too long, or one with characters that names cannot have.
    public static let invalidName = Kind(.invalidName)
    /// Two things of the same name.
    public static let duplicateName = Kind(.duplicateName)
    /// A name that nothing has: an index's property, a relationship's destination.
    public static let unknownName = Kind(.unknownName)
    /// A default of the wrong type, or one that breaks the attribute's own rules.
    public static let invalidDefault = Kind(.invalidDefault)
    /// A rule that does not suit the type, or rules that exclude each other.
    public static let invalidValidation = Kind(.invalidValidation)
    /// An index without elements, over one property twice, or over a to-many relationship; a box
    /// index over what is neither number nor date.
    public static let invalidIndex = Kind(.invalidIndex)
    /// A type that neither holds the stored one's values nor is held by it.
    public static let incompatibleType = Kind(.incompatibleType)
    /// A relationship of another destination, cardinality or order than the stored one.
    public static let incompatibleRelationship = Kind(.incompatibleRelationship)
    /// An index of the same name over other properties than the stored one.
    public static let incompatibleIndex = Kind(.incompatibleIndex)
    /// A new required attribute without a default, where there are objects.
    public static let missingDefault = Kind(.missingDefault)
    /// A uniqueness rule that objects already break.
    public static let notUnique = Kind(.notUnique)
    /// A rename where the new name was in use before the old one's data came to it.
    public static let ambiguousRename = Kind(.ambiguousRename)
    /// A removal of what something else still names.
    public static let inUse = Kind(.inUse)
    /// More entities or properties than a store can hold.
    public static let tooMany = Kind(.tooMany)

    /// The kind's name.
    public var description: String { base.rawValue }
  }
}
