/// What of an entity's objects a timeline shows, by the names of their properties: when something
/// began, when it ended, and what an end that is missing means.
///
///     TimelineDefinition("Trip", start: "from", end: "to", openEnd: .whenEndIsNil, label: "title")
///
/// Start and end are attributes of type date, or texts: `2004`, `2004-05`, `2004-05-17` or RFC 3339
/// (`2004-05-17T20:15:00+02:00`), each standing for its first moment, in UTC, and shown as written.
public struct TimelineDefinition: Hashable, Sendable {
  /// The name of the entity.
  public var entity: String
  /// When it began, or when it was.
  public var start: PropertyPath
  /// When it ended; nil for an entity of single dates.
  public var end: PropertyPath?
  /// What makes an object ongoing.
  public var openEnd: OpenEnd
  /// When the end counts, such as `includesEnd == true`; where it does not, the object is a single
  /// date.
  public var endCondition: Condition?
  /// An attribute or a to-one relationship that tells the objects apart.
  public var group: PropertyPath?
  /// What names an object: an attribute, or a to-one relationship, which shows its object's name.
  public var label: PropertyPath?
  /// Which objects are shown; nil for all.
  public var condition: Condition?
  /// Whether the start did not exist when the state was the newest.
  package var hasNoStart = false

  /// What makes an object ongoing.
  public enum OpenEnd: Hashable, Sendable {
    /// Nothing: without an end it is a single date.
    case never
    /// There is no end.
    case whenEndIsNil
    /// The attribute is true, whatever the end says.
    case flag(PropertyPath)
    /// The attribute says which kind the object is; one that says none of them is a range if it
    /// has an end, else a single date.
    case kind(PropertyPath, KindValues = KindValues())
  }

  /// Which values of an attribute stand for the kinds.
  public struct KindValues: Hashable, Sendable {
    /// The value that stands for a single date.
    public var single: Value
    /// The value that stands for a range.
    public var range: Value
    /// The value that stands for what goes on.
    public var ongoing: Value

    /// The texts `single`, `range` and `ongoing` unless said otherwise.
    public init(
      single: Value = .string("single"), range: Value = .string("range"),
      ongoing: Value = .string("ongoing")
    ) {
      self.single = single
      self.range = range
      self.ongoing = ongoing
    }
  }

  /// The timeline of these properties.
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
