/// Every reason why a schema is impossible.
public struct SchemaError: Error, Hashable, Sendable {
  /// The reasons, in the order of the schema; never empty.
  public var conflicts: [SchemaConflict]

  /// Creates an error with these reasons.
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

/// One reason why a schema is impossible.
public struct SchemaConflict: Hashable, Sendable {
  /// The kind of reason.
  public var kind: Kind
  /// The name of the entity.
  public var entity: String
  /// The name of the attribute, relationship or index; nil if the reason concerns the entity
  /// itself.
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
  /// The name, then the reason.
  public var description: String {
    property.map { "\(entity).\($0): \(reason)" } ?? "\(entity): \(reason)"
  }
}

extension SchemaConflict {
  /// A kind of reason. An open set: compare with `==`.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    private enum Base: String {
      case invalidName, duplicateName, unknownName, invalidDefault, invalidValidation, invalidIndex
      case invalidDerivation
      case incompatibleType, incompatibleRelationship, incompatibleIndex
      case missingDefault, notUnique, danglingReference, ambiguousRename, inUse, tooMany
    }

    private var base: Base

    private init(_ base: Base) {
      self.base = base
    }

    /// An empty name, one that is too long, or one with forbidden characters.
    public static let invalidName = Kind(.invalidName)
    /// Two definitions with the same name.
    public static let duplicateName = Kind(.duplicateName)
    /// A name that is not defined: an index's property, a relationship's destination.
    public static let unknownName = Kind(.unknownName)
    /// A default of the wrong type, or one that breaks the attribute's own rules.
    public static let invalidDefault = Kind(.invalidDefault)
    /// A rule that does not fit the type, or rules that exclude each other.
    public static let invalidValidation = Kind(.invalidValidation)
    /// An index without elements, with one property twice, or over a to-many relationship; a box
    /// index over an attribute that is neither number nor date.
    public static let invalidIndex = Kind(.invalidIndex)
    /// A derived attribute that reads what is not there or does not fit, or that is derived from
    /// itself.
    public static let invalidDerivation = Kind(.invalidDerivation)
    /// A type to which the stored one cannot be widened, nor the other way round.
    public static let incompatibleType = Kind(.incompatibleType)
    /// A relationship with another destination, cardinality or order than the stored one.
    public static let incompatibleRelationship = Kind(.incompatibleRelationship)
    /// An index with the name of a stored one and other properties.
    public static let incompatibleIndex = Kind(.incompatibleIndex)
    /// A new required attribute without a default, while objects exist.
    public static let missingDefault = Kind(.missingDefault)
    /// A uniqueness rule that objects already break.
    public static let notUnique = Kind(.notUnique)
    /// A delete rule for a relationship that already refers to deleted objects.
    public static let danglingReference = Kind(.danglingReference)
    /// A rename to a name that was in use before the renamed data came to it.
    public static let ambiguousRename = Kind(.ambiguousRename)
    /// A removal of something that another definition still refers to.
    public static let inUse = Kind(.inUse)
    /// More entities or properties than a store can hold.
    public static let tooMany = Kind(.tooMany)

    /// The kind's name.
    public var description: String { base.rawValue }
  }
}
