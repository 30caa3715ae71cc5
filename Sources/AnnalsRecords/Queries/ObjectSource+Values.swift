import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

// One form for any number of properties would be enough, if the compiler found the members of its
// result in an argument of another call; see the groups.
extension ObjectSource {
  /// One property of the objects that the fetch finds, in its order:
  ///
  ///     let titles = try snapshot.values(soon, \.title)
  ///
  /// Reads only this property. Throws as `fetch(_:)` does.
  public func values<R: Record, V: AttributeValue>(
    _ fetch: Fetch<R>, _ keyPath: KeyPath<R, V>
  ) throws(AnnalsError) -> [V] { try columns(fetch, keyPath) }

  /// Two properties of the objects that the fetch finds, in its order:
  ///
  ///     for (title, start) in try snapshot.values(soon, \.title, \.start) { print(start, title) }
  ///
  /// Reads only these properties. Throws as `fetch(_:)` does.
  public func values<R: Record, V: AttributeValue, W: AttributeValue>(
    _ fetch: Fetch<R>, _ first: KeyPath<R, V>, _ second: KeyPath<R, W>
  ) throws(AnnalsError) -> [(V, W)] { try columns(fetch, first, second) }

  /// Three properties of the objects that the fetch finds; as the form with two.
  public func values<R: Record, V: AttributeValue, W: AttributeValue, X: AttributeValue>(
    _ fetch: Fetch<R>, _ first: KeyPath<R, V>, _ second: KeyPath<R, W>, _ third: KeyPath<R, X>
  ) throws(AnnalsError) -> [(V, W, X)] { try columns(fetch, first, second, third) }

  /// Four properties or more of the objects that the fetch finds; as the form with two.
  public func values<
    R: Record, V: AttributeValue, W: AttributeValue, X: AttributeValue, Y: AttributeValue,
    each Z: AttributeValue
  >(
    _ fetch: Fetch<R>, _ first: KeyPath<R, V>, _ second: KeyPath<R, W>, _ third: KeyPath<R, X>,
    _ fourth: KeyPath<R, Y>, _ more: repeat KeyPath<R, each Z>
  ) throws(AnnalsError) -> [(V, W, X, Y, repeat each Z)] {
    try columns(fetch, first, second, third, fourth, repeat each more)
  }

  /// Chosen properties of the objects that the fetch finds, in its order.
  private func columns<R: Record, each V: AttributeValue>(
    _ fetch: Fetch<R>, _ keyPath: repeat KeyPath<R, each V>
  ) throws(AnnalsError) -> [(repeat each V)] {
    let query = try _query(R.self)
    var positions: ContiguousArray<Int> = []
    for each in repeat each keyPath { positions.append(query.binding.position(of: each)) }
    let rows = try query.rows(fetch)
    var reader = RecordReader(
      query.binding.layout, state: query.reader.state, store: query.reader.store,
      largeValues: query.reader.largeValues, rows: RowSequence(rows, inOrder: true),
      properties: positions)
    var result: [(repeat each V)] = []
    result.reserveCapacity(rows.count)
    do throws(RecordReader.Stop) {
      while try reader.moveToNext() != nil {
        result.append((repeat try (each V)._next(&reader)))
      }
    } catch {
      throw reader.error
    }
    return result
  }
}

extension ObjectSource {
  /// Chosen values of the objects that the fetch finds, in its order. For each object the values at
  /// the paths, in their order; `.null` for none.
  ///
  ///     try snapshot.values(DynamicFetch("Event"), "title", ["place", "name"])
  ///
  /// Reads only these values. A path leads to an attribute or an object, as in conditions; throws
  /// as `fetch(_:)` does.
  public func values(
    _ fetch: DynamicFetch, _ paths: PropertyPath...
  ) throws(AnnalsError) -> [[Value]] { try values(fetch, paths) }

  /// Chosen values of the objects that the fetch finds, in its order.
  public func values(
    _ fetch: DynamicFetch, _ paths: [PropertyPath]
  ) throws(AnnalsError) -> [[Value]] {
    let reader = try _dynamicQuery.reader
    let (entity, query) = try _dynamicQuery.query(fetch)
    let bound = try reader.planning {
      try paths.map { try BoundPath($0, from: entity.number, in: reader.state) }
    }
    guard let table = reader.state.table(entity.number) else { return [] }
    let rows = try reader.rows(query)
    var result = [[Value]](repeating: [], count: rows.count)
    var batch = CellBatch()
    for start in stride(from: 0, to: rows.count, by: 1_024) {
      let part = ContiguousArray(rows[start..<min(rows.count, start + 1_024)])
      for path in bound {
        try reader.planning { try batch.read(path, of: part, in: table) }
        for index in part.indices {
          result[start + index].append(try reader.whole(batch.value(index)))
        }
      }
    }
    return result
  }
}

extension StateReader {
  /// The value with its bytes; a lost one stays a reference.
  fileprivate func whole(_ value: Value) throws(AnnalsError) -> Value {
    guard case .large(let large) = value, let bytes = try largeValues.bytesLeft(of: large) else {
      return value
    }
    return Value(bytes: bytes, tag: large.tag)
  }
}
