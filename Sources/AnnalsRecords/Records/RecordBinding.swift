import AnnalsEngine
import AnnalsFormat
import AnnalsModel
import AnnalsState
import Foundation

/// Binds a record type to a store's schema: reads and writes its records.
///
/// Made once for each record type and version of the schema (`RecordBindings`), for use on any
/// thread.
package final class RecordBinding<R: Record>: Sendable {
  package let layout: RecordLayout
  let record: RecordEntity<R>
  // Copied from `record`: reading its parts costs a look-up of the type's metadata each time.
  let fields: ContiguousArray<RecordField>
  let isStored: Bool
  /// The dates in the record, if storing it rounds nothing else; nil if a record must be read back
  /// to see what was stored.
  private let dates: ContiguousArray<DateField>?

  /// The properties of one type that may still be listed in another order than the initialiser's.
  package let exchange: ExchangeCheck

  /// Binds the record type to a store whose newest schema is `schema`, made by the changes of
  /// `history`.
  ///
  /// Throws `.invalidSchema` if the store has no such entity. The store may lack properties: they
  /// read as nil or their default, and nothing can be written.
  package init(
    schema: Schema, history: [SchemaHistoryEntry] = [], migrations: [MigrationRecord] = []
  ) throws(AnnalsError) {
    record = R.entity
    fields = record.fields
    isStored = record.isStored
    guard let stored = schema.entity(named: record.name) else {
      let former = history.formerEntity(record.name, in: schema)
      throw AnnalsError.invalidSchema([
        SchemaConflict(
          .unknownName, record.name, nil,
          former?.reason("entity")
            ?? "the store has no such entity; open it for writing with records: \(R.self).self")
      ])
    }
    layout = RecordLayout(
      stored, name: record.name, properties: record.properties, history: history,
      migrations: migrations)
    dates = RecordBinding.dates(of: record, layout)
    exchange = ExchangeCheck(record.fields)
  }

  /// The entity's number.
  package var entity: EntityNumber { layout.entity }

  /// The stable number of the property that the key path leads to; nil if the store does not have
  /// it.
  ///
  /// Traps if the record type does not list the property.
  package func property(_ keyPath: PartialKeyPath<R>) -> PropertyNumber? {
    let number = layout.columns[position(of: keyPath)].property
    return number == 0 ? nil : number
  }

  /// The position of the property that the key path leads to, in the record type's list. Traps if
  /// it is not listed.
  package func position(of keyPath: PartialKeyPath<R>) -> Int {
    if isStored, let index = RecordField.index(MemoryLayout<R>.offset(of: keyPath), keyPath, fields)
    {
      return index
    }
    return record.listedPosition(of: keyPath)
  }
}

extension RecordBinding {
  /// Writes all properties of a record at an address, or those at some positions, in which it
  /// differs from the previous one.
  func put(
    _ value: UnsafeRawPointer, unless previous: UnsafeRawPointer?,
    only positions: ContiguousArray<Int>? = nil, _ writer: inout RecordWriter
  ) {
    if let positions {
      for position in positions {
        writer.index = position
        if isStored {
          fields[position].put(of: value, unless: previous, &writer)
        } else {
          record.put(position, of: value, unless: previous, &writer)
        }
      }
    } else if isStored {
      RecordField.put(fields, of: value, previous, &writer)
    } else {
      record.writeComputed(value, unless: previous, &writer)
    }
  }
}

extension RecordBinding {
  /// The positions of the properties in which two records differ, if at most what a key path sets.
  ///
  /// Where it leads to a stored property, no other is compared: setting that sets nothing else.
  package func differences(
    _ a: R, _ b: R, by keyPath: PartialKeyPath<R>? = nil
  ) -> ContiguousArray<Int> {
    if let keyPath, isStored,
      let position = RecordField.index(MemoryLayout<R>.offset(of: keyPath), keyPath, fields)
    {
      return fields[position].areSame(a, b) ? [] : [position]
    }
    return ContiguousArray(record.accesses.indices.filter { !record.accesses[$0].areSame(a, b) })
  }
}

// Rounding.
extension RecordBinding {
  /// A property of type `Date` or `Date?`.
  private struct DateField {
    let offset: Int
    let isOptional: Bool
  }

  /// Rounds the record to the values that are stored. Returns false if it must be read back for
  /// that.
  package func round(_ value: inout R) -> Bool {
    guard layout.roundsValues else { return true }
    guard let dates else { return false }
    withUnsafeMutablePointer(to: &value) { pointer in
      for date in dates {
        let place = UnsafeMutableRawPointer(pointer) + date.offset
        if date.isOptional {
          let date = place.assumingMemoryBound(to: Date?.self)
          date.pointee = date.pointee.map { Date(Timestamp($0)) }
        } else {
          let date = place.assumingMemoryBound(to: Date.self)
          date.pointee = Date(Timestamp(date.pointee))
        }
      }
    }
    return true
  }

  private static func dates(
    of record: RecordEntity<R>, _ layout: RecordLayout
  ) -> ContiguousArray<DateField>? {
    guard record.isStored else { return nil }
    var result: ContiguousArray<DateField> = []
    for (field, column) in zip(record.fields, layout.columns) {
      if column.isRelationship { return nil }
      guard column.tag == .date else { continue }
      let isOptional = field.type == Date?.self
      guard isOptional || field.type == Date.self else { return nil }
      result.append(DateField(offset: field.offset, isOptional: isOptional))
    }
    return result
  }
}

// Reading.
extension RecordBinding {
  /// A reader for many records of one state.
  package func reader(
    of state: State, store: RawUUID, largeValues: any LargeValueSource,
    rows: RowSequence = .none
  ) -> RecordReader {
    RecordReader(layout, state: state, store: store, largeValues: largeValues, rows: rows)
  }

  /// The objects of the rows that the reader was given, `count` of them, in their order; throws as
  /// `read(_:_:)` does.
  package func readAll(
    _ reader: inout RecordReader, count: Int
  ) throws(AnnalsError) -> [Object<R>] {
    // With no capacity it would write its length into the empty array that all threads share.
    guard count > 0 else { return [] }
    var isDone = false
    let result = [Object<R>](unsafeUninitializedCapacity: count) { buffer, found in
      guard let objects = buffer.baseAddress else { return }
      do throws(RecordReader.Stop) {
        reader.make(at: objects)
        try record.readAll(&reader, objects)
        found = count
        isDone = true
      } catch {
        for place in reader.places { buffer.deinitializeElement(at: place) }
      }
    }
    guard isDone else { throw reader.error }
    return result
  }

  /// The record of an object that exists in the reader's state.
  ///
  /// Throws `.unreadableRecord` if a stored value does not fit its property, and the errors of
  /// reading the file.
  package func read(_ row: Int64, _ reader: inout RecordReader) throws(AnnalsError) -> R {
    do throws(RecordReader.Stop) {
      try reader.move(to: row)
      return try record.read(&reader)
    } catch {
      throw reader.error
    }
  }

  /// The record of one object that exists in the state; throws as the other form does.
  package func read(
    _ row: Int64, from state: State, store: RawUUID, largeValues: any LargeValueSource
  ) throws(AnnalsError) -> R {
    var reader = reader(of: state, store: store, largeValues: largeValues)
    return try read(row, &reader)
  }

  /// The value of a property's stored cell, such as a before- or after-image. For a to-many
  /// relationship the cell is the whole list.
  package func value<V: AttributeValue>(
    of keyPath: KeyPath<R, V>, row: Int64, _ cell: ValueCell, in arena: UnsafeRawBufferPointer,
    store: RawUUID, largeValues: any LargeValueSource
  ) throws(AnnalsError) -> V {
    let index = position(of: keyPath)
    if layout.columns[index].isRelationship {
      if cell.tag != .erased {
        return try relationship(cell.value(in: arena), row: row, index: index, store: store)
      }
    }
    var reader = RecordReader(
      layout, row: row, property: index, store: store, largeValues: largeValues)
    do throws(RecordReader.Stop) {
      guard layout.columns[index].isRelationship else { return try reader.decoded(cell, in: arena) }
      if let value = V._read(try reader.erasedObjects(V.self)) { return value }
      throw RecordReader.Stop()
    } catch {
      throw reader.error
    }
  }

  private func relationship<V: AttributeValue>(
    _ value: Value, row: Int64, index: Int, store: RawUUID
  ) throws(AnnalsError) -> V {
    let objects = value.targets.map { ObjectID(store: store, entity: $0.entity, row: $0.row) }
    guard let result = V._read(objects) else {
      throw AnnalsError(
        .unreadableRecord, "\(record.name)#\(row).\(layout.names[index]) leads to no object")
    }
    return result
  }
}

extension RecordBindings {
  /// The binding of the record type to the store's newest schema; made on first use.
  ///
  /// `version` identifies the schema: the number of the transaction that changed it last. Throws
  /// `.invalidSchema` if the store has no such entity.
  package func binding<R: Record>(
    of type: R.Type, schema: Schema, version: Int64, history: [SchemaHistoryEntry] = [],
    migrations: [MigrationRecord] = []
  ) throws(AnnalsError) -> RecordBinding<R> {
    let key = ObjectIdentifier(type)
    if let known = binding(for: key, version: version) {
      // The key guarantees the type; a cast would look up the metadata of both.
      return unsafeDowncast(known, to: RecordBinding<R>.self)
    }
    let binding = try RecordBinding<R>(
      schema: schema, history: history, migrations: migrations)
    binding.record.declare(in: functions)
    keep(binding, for: key, version: version)
    return binding
  }
}
