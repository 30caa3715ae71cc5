import Annals
import AnnalsTestSupport
import Foundation
import Testing

private struct Event: Record {
  var title: String
  var start: Date
  var timeline: Reference<Timeline>?
  static let entity = RecordEntity(
    "Event", Event.init, Property("title", \.title).length(1...80), Property("start", \.start),
    Property("timeline", \.timeline).onDelete(.cascade))
}

private struct Timeline: Record {
  var name: String
  static let entity = RecordEntity(
    "Timeline", Timeline.init, Property("name", \.name).unique())
  static let events = Inverse(\Event.timeline)
}

/// The code of *Editing contexts*.
@Suite(.deadline) struct EditingContextsTests {
  private let store: Store
  private let id: ObjectID

  init() throws {
    store = try Store(.memory, records: Event.self, Timeline.self, environment: .fixed())
    id = try store.write { tx in
      try tx.insert(Event(title: "Fog", start: .now, timeline: nil)).objectID
    }
  }

  private func title() throws -> String? { try store.snapshot().object(Event.self, id)?.title }

  @Test func aForm() throws {
    let form = try EditingContext(store, author: "ui")
    if let event = try form.object(Event.self, id) {
      event.title = "Lunch"
      event.start += 3_600
    }
    if form.hasChanges, try form.validate().isEmpty {
      try form.save()
    } else {
      form.rollback()
    }
    #expect(try title() == "Lunch")
  }

  @Test func whatIsPendingAndUndo() throws {
    let form = try EditingContext(store, author: "ui")
    let timeline = try form.insert(Timeline(name: "2027"))
    let event = try form.insert(Event(title: "", start: .now, timeline: timeline.reference))
    for change in try form.changes() { print(change) }
    for violation in try form.validate() { print(violation) }
    let changed = try form.changedProperties(of: event.objectID)
    #expect(changed == ["title", "start", "timeline"])
    #expect(try form.validate().map(\.property) == ["title"])
    let start = event.start
    try form.edit("Move to Tomorrow") { tx in
      for event in try tx.objects(timeline.object, \.events) {
        try tx.update(event) { $0.start += 86_400 }
      }
    }
    try form.group("Rename") {
      timeline.name = "Next year"
      event.title = "Begins"
    }
    try form.undo()
    let menuTitles = (form.undoName, form.redoName)  // "Move to Tomorrow", "Rename"
    #expect(menuTitles.0 == "Move to Tomorrow" && menuTitles.1 == "Rename")
    #expect(timeline.name == "2027" && event.start == start + 86_400)
    try form.delete(timeline)
    #expect(event.isDeleted)
    try form.undo()
    let dialog = form.child()
    try dialog.object(event)?.title = "Dinner"
    try dialog.save(as: "Edit Event")
    #expect(event.title == "Dinner" && form.undoName == "Edit Event")
    try form.save()
  }

  @MainActor @Test func others() throws {
    let form = try EditingContext(store)
    let rows = try LiveRows(Fetch(Event.self).sorted(by: \.start), in: form)
    try form.object(Event.self, id)?.title = "Lunch"
    #expect(try rows.rows.all().map(\.title) == ["Lunch"])
    try store.write { try $0.set(\Event.title, of: id, to: "Mist") }
    do {
      try form.save()
    } catch let error as AnnalsError where error.code == .conflict {
      for conflict in error.conflicts { print(conflict) }  // ask the user, then:
      try form.save(merging: .ownWins)
    }
    #expect(try title() == "Lunch")
  }
}
