import Annals

extension BlameDocument {
  /// Who last set each property of an object; `reader` is of the state that the moment is of.
  package init(
    _ blame: Blame, of object: ShownObject, at moment: ShownMoment, in reader: StateReader,
    _ values: ValueShowing, command: CommandWords
  ) throws {
    let lines = try blame.map { line in
      Line(
        property: line.property,
        value: try values.shown(line.value, in: reader),
        setBy: line.transaction.map { ObjectDocument.Origin($0) })
    }
    self.init(
      moment: moment, object: object, lines: lines,
      deleted: blame.deletion.map {
        ShownHeader($0, changes: $0.changes.count, cut: values.limits.text)
      }, command: command.text)
  }
}

extension ObjectDocument.Origin {
  /// The origin of what the transaction set.
  init(_ transaction: Transaction) {
    self.init(
      number: transaction.number, timestamp: transaction.moment.description,
      us: transaction.moment.microseconds, author: transaction.author,
      message: transaction.message?.clipped(to: ValueShowing.usualCut))
  }
}
