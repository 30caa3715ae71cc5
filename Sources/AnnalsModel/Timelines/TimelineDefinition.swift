/// Defines the timeline of an entity's objects by the names of properties: when something began,
/// when it ended, and what a missing end means.
///
///     TimelineDefinition("Trip", start: "from", end: "to", openEnd: .whenEndIsNil, label: "title")
///
/// Start and end are attributes of type date or day, or texts: `2004`, `2004-05`, `2004-05-17` or
/// RFC 3339 (`2004-05-17T20:15:00+02:00`), each standing for its first moment, in UTC, and shown as
/// written.
public struct TimelineDefinition: Hashable, Sendable {
  /// The name of the entity.
  public var entity: String
  /// The path of the start, or of the single date.
  public var start: PropertyPath
  /// The path of the end; nil for an entity of single dates.
  public var end: PropertyPath?
  /// What makes an object ongoing.
  public var openEnd: OpenEnd
  /// The condition under which the end counts, such as `includesEnd == true`; otherwise the object
  /// is a single date.
  public var endCondition: Condition?
  /// An attribute or a to-one relationship to group the objects by.
  public var group: PropertyPath?
  /// The object's label: an attribute, or a to-one relationship, which gives its object's name.
  public var label: PropertyPath?
  /// Which objects are shown; nil for all.
  public var condition: Condition?
  /// Whether the start did not exist in the state's schema.
  package var hasNoStart = false

  /// What makes an object ongoing.
  public enum OpenEnd: Hashable, Sendable {
    /// Nothing: an object without an end is a single date.
    case never
    /// The end is nil.
    case whenEndIsNil
    /// The attribute is true, whatever the end is.
    case flag(PropertyPath)
    /// The attribute gives the object's kind. With any other value, the object is a range if it has
    /// an end, otherwise a single date.
    case kind(PropertyPath, KindValues = KindValues())
  }

  /// The values of an attribute that stand for the kinds.
  public struct KindValues: Hashable, Sendable {
    /// The value that stands for a single date.
    public var single: Value
    /// The value that stands for a range.
    public var range: Value
    /// The value that stands for an ongoing object.
    public var ongoing: Value

    /// Creates the values; by default the texts `single`, `range` and `ongoing`.
    public init(
      single: Value = .string("single"), range: Value = .string("range"),
      ongoing: Value = .string("ongoing")
    ) {
      self.single = single
      self.range = range
      self.ongoing = ongoing
    }
  }

  /// Creates a timeline of these properties.
  public init(
    _ entity: String, start: PropertyPath, end: PropertyPath? = nil, openEnd: OpenEnd = .never,
    endCondition: Condition? = nil, group: PropertyPath? = nil, label: PropertyPath? = nil,
    condition: Condition? = nil
  ) {
    self.entity = entity
    self.start = start
    self.end = end
    self.openEnd = openEnd
    self.endCondition = endCondition
    self.group = group
    self.label = label
    self.condition = condition
  }
}
