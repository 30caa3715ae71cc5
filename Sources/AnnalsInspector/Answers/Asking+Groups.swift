import Annals
import AnnalsModel
import AnnalsQuery

extension Asking {
  /// Groups of the objects of a query, with their counts.
  package func groups() throws -> GroupsDocument {
    let store = try opened()
    let query = try QueryAsking(self, store, grouped: true)
    let (offset, limit) = (try offset(), try limit(50))
    let text = try parameters.required("by")
    guard let key = query.groupKey else { throw RequestFault("by is missing", .usage) }
    let counts = try query.counts()
    try cancellation.check()
    var groups = try query.snapshot.groups(query.fetch, by: key)
    if key.unit == nil { groups.sort { $0.count > $1.count } }
    let values = self.values(
      of: store, cut: try cut(), query.snapshot.reader.largeValues)
    let shown = try groups.dropFirst(offset).prefix(limit).map { group in
      switch group.key {
      case .bucket(let bucket):
        return GroupsDocument.Entry(
          key: ShownValue(.string, bucket.label), text: bucket.label, count: group.count)
      case .value(let value):
        let shown = try values.shown(value, in: query.snapshot.reader)
        let condition = key.unit == nil ? Condition.compare(key.path, .equal, value) : nil
        return GroupsDocument.Entry(
          key: shown, text: value.isNull ? "none" : shown.text, count: group.count,
          filter: shown.isCut == true ? nil : condition.map { "\($0)" })
      }
    }
    return GroupsDocument(
      moment: try store.moment(query.snapshot.number), entity: query.entity.name, by: text,
      groups: shown, offset: offset, total: counts.total, groupCount: groups.count,
      command: queryCommand(query.entity.name).option("group-by", text)
        .option("format", "table").text)
  }
}
