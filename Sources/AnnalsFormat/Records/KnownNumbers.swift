import AnnalsModel

/// The numbers of names and openings that a log has recorded up to a point: a record refers to no
/// others, and the numbers of those that it adds continue from there.
package struct KnownNumbers: Hashable, Sendable {
  package var names: Int
  package var openings: Int

  package init(names: Int, openings: Int) {
    self.names = names
    self.openings = openings
  }

  /// What is wrong with a record's names, or else its openings, in words that continue
  /// "transaction N".
  package typealias Fault = (isOfNames: Bool, text: String)

  /// What is wrong with the names and openings of a record at this point. O(openings added).
  package func faults(of record: TransactionRecord) -> [Fault] {
    var found: [Fault] = []
    var known = self
    if !record.isPlain {
      if !record.newNames.isEmpty, record.firstNewName != names + 1 {
        found.append((true, "adds names from number \(record.firstNewName); there are \(names)"))
      }
      known.names += record.newNames.count
      for opening in record.openings {
        if opening.number != known.openings + 1 {
          found.append((false, "adds opening \(opening.number); there are \(known.openings)"))
        }
        known.openings += 1
      }
    }
    func check(_ name: NameNumber, _ what: String) {
      if name <= known.names { return }
      found.append((true, "has name \(name) as its \(what); there are \(known.names)"))
    }
    check(record.author, "author")
    check(record.context, "context")
    if record.opening > known.openings {
      found.append((false, "is of opening \(record.opening); there are \(known.openings)"))
    }
    return found
  }
}
