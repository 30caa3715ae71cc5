import Annals

/// Which transactions a request wants, as `annals log` takes it.
struct LogFilter {
  private(set) var condition = HistoryCondition.always

  init(_ parameters: RequestParameters, _ store: OpenedStore) throws {
    for (name, isStart) in [("since", true), ("until", false)] {
      guard let text = parameters[name] else { continue }
      let moment = try store.moment(text, isStart: isStart, parameter: name)
      condition = condition && HistoryCondition(isStart ? .since(moment) : .until(moment))
    }
    add(parameters.all("author").map { HistoryCondition(.author($0)) })
    add(parameters.all("context").map { HistoryCondition(.context($0)) })
    add(parameters.all("entity").map { .touches($0) })
    add(parameters.all("property").map { .touches(property: $0) })
    add(
      try parameters.all("type").map { text in
        guard let kind = ChangeKind.allCases.first(where: { "\($0)" == text }) else {
          throw RequestFault("type is insert, update or delete", .usage, parameter: "type")
        }
        return .kind(kind)
      })
    let objects = try parameters.all("object").flatMap { try store.objects(named: $0) }
    if !objects.isEmpty { condition = condition && .touches(objects) }
  }

  /// Adds that one of several choices holds.
  private mutating func add(_ choices: [HistoryCondition]) {
    guard let first = choices.first else { return }
    condition = condition && choices.dropFirst().reduce(first) { $0 || $1 }
  }
}

extension OpenedStore {
  /// The first or the last moment of a date.
  fileprivate func moment(
    _ text: String, isStart: Bool, parameter: String
  ) throws -> Timestamp {
    do {
      let date = TokenArgument.moment(text, zone, now: now, allowsYears: true)
      let token = try date ?? TokenArgument(text, zone: zone, now: now)
      if let moment = isStart ? token.start : token.end { return moment }
      throw RequestFault("`\(text)` is no date", .usage)
    } catch var fault as RequestFault {
      fault.parameter = parameter
      throw fault
    }
  }

  /// The objects that have or had a name.
  fileprivate func objects(named text: String) throws -> [ObjectID] {
    do {
      let argument = try ObjectArgument(text)
      if case .row(let name, let row) = argument, let entity = store.schema.entity(named: name) {
        return [ObjectReference(entity: entity.number, row: row).id(in: store)]
      }
      return try argument.findAll(inHistoryOf: store).map { $0.id(in: store) }
    } catch var fault as RequestFault {
      fault.parameter = "object"
      throw fault
    }
  }
}
