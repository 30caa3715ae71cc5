import AnnalsModel

extension ChangeBatch {
  /// Adds to the update of an object the properties that were erased before it and after it. It is
  /// the batch's last change, if there is one yet. Returns whether there is one now.
  mutating func record(
    _ erased: [PropertyNumber], again object: ObjectReference, isChanged: Bool
  ) -> Bool {
    if !isChanged {
      changes.append(
        ChangeEntry(
          kind: .update, entity: object.entity, row: object.row, firstProperty: properties.count,
          propertyCount: 0))
    }
    let last = changes.count - 1
    guard changes[last].kind == .update else { return true }
    for number in erased {
      let range = changes[last].propertyRange
      let place = range.first { properties[$0].property >= number } ?? range.upperBound
      // A property that has another value in the end is there already.
      if place < range.upperBound, properties[place].property == number { continue }
      properties.insert(
        PropertyChange(property: number, before: .erased, after: .erased), at: place)
      changes[last].propertyCount += 1
    }
    return true
  }
}
