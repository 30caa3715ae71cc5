import AnnalsModel

/// The entity of a record type: its name, and its properties in the order of the initialiser.
///
/// The initialiser and the properties must agree in number, order and types, or the program does
/// not compile. Two properties of one type could still be exchanged: so the first inserted record
/// in which the two differ is read back, and an exchange traps with their names.
public struct RecordEntity<R: Record>: Sendable {
  /// The entity's name in the store.
  public let name: String
  package private(set) var formerNames: [String] = []
  package let properties: ContiguousArray<PropertyDefinition>
  private(set) var indexes: [RecordIndex<R>] = []
  let keyPaths: ContiguousArray<any PartialKeyPath<R> & Sendable>
  /// Makes a record of the object that the reader is at.
  let read: @Sendable (inout RecordReader) throws(RecordReader.Stop) -> R
  /// Makes the objects of all rows that the reader was given, each at its place.
  let readAll: @Sendable (inout RecordReader, Objects) throws(RecordReader.Stop) -> Void
  let fields: ContiguousArray<RecordField>
  /// Whether all properties are stored in the record, none computed.
  let isStored: Bool
  let accesses: ContiguousArray<RecordAccess<R>>

  /// The entity of this name.
  ///
  /// - Parameters:
  ///   - name: the name in the store.
  ///   - make: makes a record of the values of its properties, usually the memberwise initialiser.
  ///   - property: the properties, in the order of `make`'s parameters.
  @inlinable
  public init<each V: AttributeValue>(
    _ name: String, _ make: @escaping @Sendable (repeat each V) -> R,
    _ property: repeat Property<R, each V>
  ) {
    self.init(name, repeat each property) { (reader) throws(RecordReader.Stop) in
      make(repeat try (each V)._next(&reader))
    }
  }

  /// Not for these properties: the type of one cannot be stored.
  @available(*, unavailable, message: "one of the properties has a type that cannot be stored")
  public init<each V>(
    _ name: String, _ make: @escaping @Sendable (repeat each V) -> R,
    _ property: repeat Property<R, each V>
  ) { stop(name) }

  @inlinable @inline(__always)
  init<each V: AttributeValue>(
    _ name: String, _ property: repeat Property<R, each V>,
    read: @escaping @Sendable (inout RecordReader) throws(RecordReader.Stop) -> R
  ) {
    self.init(name, repeat each property, read: read) {
      (reader, objects) throws(RecordReader.Stop) in
      while let place = try reader.moveToNext() {
        let value = try read(&reader)
        (objects + place).initialize(to: Object(objectID: reader.objectID, value: consume value))
      }
    }
  }

  @usableFromInline
  init<each V: AttributeValue>(
    _ name: String, _ property: repeat Property<R, each V>,
    read: @escaping @Sendable (inout RecordReader) throws(RecordReader.Stop) -> R,
    readAll: @escaping @Sendable (inout RecordReader, Objects) throws(RecordReader.Stop) -> Void
  ) {
    self.name = name
    self.read = read
    self.readAll = readAll
    var definitions: ContiguousArray<PropertyDefinition> = []
    var keyPaths: ContiguousArray<any PartialKeyPath<R> & Sendable> = []
    var fields: ContiguousArray<RecordField> = []
    var accesses: ContiguousArray<RecordAccess<R>> = []
    for (property, type) in repeat (each property, (each V).self) {
      definitions.append(property.definition)
      keyPaths.append(property.keyPath)
      // Following a key path costs some 30 ns, an offset almost nothing.
      let offset = MemoryLayout<R>.offset(of: property.keyPath) ?? -1
      fields.append(RecordField(offset: offset, type: type))
      accesses.append(RecordAccess(property))
    }
    properties = definitions
    self.keyPaths = keyPaths
    self.fields = fields
    isStored = fields.allSatisfy { $0.offset >= 0 }
    self.accesses = accesses
  }

  /// Where objects are made.
  @usableFromInline typealias Objects = UnsafeMutablePointer<Object<R>>
}

extension RecordEntity {
  /// Declares an earlier name of the entity. Opening a store renames it once.
  public func renamed(from name: String) -> RecordEntity {
    changing(self) { $0.formerNames.append(name) }
  }

  /// Keeps an index of these properties, the first most significant, so that objects can be read in
  /// their order. See `Property.indexed(_:)`.
  public func indexed(by keyPaths: PartialKeyPath<R>...) -> RecordEntity {
    adding(index: keyPaths, isUnique: false)
  }

  /// A partial index: as `indexed(by:)`, with only the objects that meet the condition. It serves
  /// fetches that ask for no others: `.indexed(by: \.due, where: \.isDone == false)`.
  ///
  /// The condition compares properties of the record itself with values, joined by AND: `==` and
  /// `!=` with any value of up to 256 bytes, the other comparisons with numbers, dates, UUIDs and
  /// Booleans. Opening a store throws `.invalidSchema` for any other condition.
  public func indexed(
    by keyPaths: PartialKeyPath<R>...,
    where condition: @autoclosure @escaping @Sendable () -> RecordCondition<R>
  ) -> RecordEntity {
    adding(index: keyPaths, isUnique: false, where: condition)
  }

  /// Requires that no two objects have the same values of all these properties; nil never collides.
  public func unique(by keyPaths: PartialKeyPath<R>...) -> RecordEntity {
    adding(index: keyPaths, isUnique: true)
  }

  /// As `unique(by:)`, among the objects that meet the condition; see `indexed(by:where:)`.
  public func unique(
    by keyPaths: PartialKeyPath<R>...,
    where condition: @autoclosure @escaping @Sendable () -> RecordCondition<R>
  ) -> RecordEntity {
    adding(index: keyPaths, isUnique: true, where: condition)
  }

  /// Adds an index of these properties, of any kind.
  func adding(
    index keyPaths: [PartialKeyPath<R>], isUnique: Bool = false, as kind: IndexKind = .ordered,
    where condition: (@Sendable () -> RecordCondition<R>)? = nil
  ) -> RecordEntity {
    var copy = self
    let names = keyPaths.map { keyPath in
      guard let position = position(of: keyPath) else {
        stop("an index of \(name) names something that is none of its properties")
      }
      return properties[position].name
    }
    copy.indexes.append(
      RecordIndex(
        index: IndexDescription(over: names.map { IndexElement($0) }, isUnique, as: kind),
        condition: condition))
    return copy
  }

  /// The name of the property that the key path leads to. Traps if there is none.
  package func propertyName(of keyPath: PartialKeyPath<R>) -> String {
    definition(of: keyPath).name
  }

  /// The property that the key path leads to. Traps if there is none.
  package func definition(of keyPath: PartialKeyPath<R>) -> PropertyDefinition {
    properties[listedPosition(of: keyPath)]
  }

  /// The position of the property that the key path leads to. Traps if there is none.
  func listedPosition(of keyPath: PartialKeyPath<R>) -> Int {
    guard let position = position(of: keyPath) else {
      stop("\(keyPath) is none of the properties that \(R.self).entity lists")
    }
    return position
  }

  /// The position of the property that the key path leads to; nil if there is none.
  package func position(of keyPath: PartialKeyPath<R>) -> Int? {
    if isStored, let index = RecordField.index(MemoryLayout<R>.offset(of: keyPath), keyPath, fields)
    {
      return index
    }
    return keyPaths.firstIndex { $0 == keyPath }
  }
}

/// Where a stored property lies in a record, and its type. A few plain bytes, so that iterating
/// over the fields of a record counts no references.
struct RecordField: Sendable {
  /// The property's offset from the start of the record.
  var offset: Int
  var type: any AttributeValue.Type

  /// The index of the field with this offset and the key path's type; nil if there is none.
  ///
  /// Comparing key paths compares their parts. Comparing offsets is faster, and fields with the
  /// same offset and type are the same.
  static func index(
    _ offset: Int?, _ keyPath: AnyKeyPath, _ fields: ContiguousArray<RecordField>
  ) -> Int? {
    guard let offset else { return nil }
    for index in fields.indices where fields[index].offset == offset {
      return fields[index].type == Swift.type(of: keyPath).valueType ? index : nil
    }
    return nil
  }

  /// Writes all fields of the record at an address. Not generic, which matters for speed here.
  static func put(
    _ fields: ContiguousArray<RecordField>, of record: UnsafeRawPointer,
    _ previous: UnsafeRawPointer?, _ writer: inout RecordWriter
  ) {
    for field in fields { field.put(of: record, unless: previous, &writer) }
  }

  /// Writes the field of the record at an address, unless it is the same in the previous one.
  @inline(__always)
  func put(
    of record: UnsafeRawPointer, unless previous: UnsafeRawPointer?, _ writer: inout RecordWriter
  ) {
    let old: UnsafeRawPointer? = if let previous { previous + offset } else { nil }
    type._put(record + offset, old, &writer)
  }

  /// Whether the field is the same in two records of its type.
  func areSame<R>(_ a: R, _ b: R) -> Bool {
    withUnsafePointer(to: a) { a in
      withUnsafePointer(to: b) { b in
        type.areSame(UnsafeRawPointer(a) + offset, UnsafeRawPointer(b) + offset)
      }
    }
  }
}

extension AttributeValue {
  /// Whether the values at two addresses are the same.
  fileprivate static func areSame(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
    RecordWriter.areSame(
      a.assumingMemoryBound(to: Self.self).pointee, b.assumingMemoryBound(to: Self.self).pointee)
  }
}

/// Fallback access to one property through its key path, for computed properties.
struct RecordAccess<R>: Sendable {
  /// Writes the property, unless the previous record has the same value.
  let put: @Sendable (R, R?, inout RecordWriter) -> Void
  /// Whether two records have the same value of the property.
  let areSame: @Sendable (R, R) -> Bool
  /// The property's value.
  let value: @Sendable (R) -> Value

  init<V: AttributeValue>(_ property: Property<R, V>) {
    let keyPath = property.keyPath
    put = { record, previous, writer in
      writer.put(record[keyPath: keyPath], unless: previous?[keyPath: keyPath])
    }
    areSame = { RecordWriter.areSame($0[keyPath: keyPath], $1[keyPath: keyPath]) }
    value = { Value.whole($0[keyPath: keyPath]) }
  }
}

extension RecordEntity {
  /// Writes one property of the record at an address, unless it is the same in the previous one.
  func put(
    _ position: Int, of record: UnsafeRawPointer, unless previous: UnsafeRawPointer?,
    _ writer: inout RecordWriter
  ) {
    accesses[position].put(
      record.assumingMemoryBound(to: R.self).pointee,
      previous?.assumingMemoryBound(to: R.self).pointee, &writer)
  }

  /// Writes all properties of the record at an address, some of them computed, or those in which it
  /// differs from the previous one.
  @inline(never)
  func writeComputed(
    _ record: UnsafeRawPointer, unless previous: UnsafeRawPointer?, _ writer: inout RecordWriter
  ) {
    let value = record.assumingMemoryBound(to: R.self).pointee
    let old = previous?.assumingMemoryBound(to: R.self).pointee
    for access in accesses { access.put(value, old, &writer) }
  }
}

extension Value {
  /// The value of an attribute, or a relationship's objects as a list.
  static func whole<V: AttributeValue>(_ value: V) -> Value {
    guard V._isRelationship else { return Value(value) }
    let list = value._objects.map { ObjectReference(entity: $0.entity, row: $0.row) }
    return list.isEmpty ? .null : .objects(list)
  }
}

/// An index of several properties, or a partial one.
struct RecordIndex<R: Record>: Sendable {
  var index: IndexDescription
  /// The condition of a partial index; evaluated late, since it names properties of the entity that
  /// is being made.
  var condition: (@Sendable () -> RecordCondition<R>)?

  /// The description, with the condition in its name.
  var description: IndexDescription {
    guard let condition = condition?().condition else { return index }
    var name = "\(index.name) where \(condition)"
    // A long text or a line break would make an invalid name.
    if name.nameProblem != nil { name = "\(index.name) where …" }
    return index.named(name, where: condition)
  }
}
