import AnnalsModel
import AnnalsQuery

extension ObjectSource {
  /// Chosen properties of the objects that the fetch asks for, in its order:
  ///
  ///     for (title, start) in try snapshot.values(soon, \.title, \.start) { print(start, title) }
  ///
  /// Reads only these properties. Throws as `fetch(_:)` does.
  public func values<R: Record, each V: AttributeValue>(
    _ fetch: Fetch<R>, _ keyPath: repeat KeyPath<R, each V>
  ) throws(AnnalsError) -> [(repeat each V)] {
    let query = try _query(R.self)
    var positions: ContiguousArray<Int> = []
    for each in repeat each keyPath { positions.append(query.binding.position(of: each)) }
    var reader = RecordReader(
      query.binding.layout, state: query.reader.state, store: query.reader.store,
      largeValues: query.reader.largeValues)
    var result: [(repeat each V)] = []
    for row in try query.rows(fetch) {
      reader.move(to: row)
      var index = 0
      do throws(RecordReader.Stop) {
        result.append((repeat try reader.next((each V).self, positions, &index)))
      } catch {
        throw reader.fault ?? AnnalsError(.unreadableRecord, "\(reader.name) is unreadable")
      }
    }
    return result
  }
}

extension RecordReader {
  /// Reads the next of chosen properties.
  fileprivate mutating func next<V: AttributeValue>(
    _ type: V.Type, _ positions: ContiguousArray<Int>, _ index: inout Int
  ) throws(Stop) -> V {
    move(toProperty: positions[index])
    index += 1
    return try V._next(&self)
  }
}
