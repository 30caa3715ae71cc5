import Annals

/// A schema as a picture: a box for each entity with its properties and indexes, and an arrow for
/// each relationship, from its line to the entity that it leads to. The name of an inverse stands
/// at the point of the arrow.
struct SchemaPicture {
  /// The picture as a file.
  let svg: String
  /// What is in it: `3 entities`, `4 relationships`.
  let notes: [String]

  private static let ink = "#24292f"
  private static let frame = "#8c959f"
  private static let header = "#ddf4ff"
  private static let arrow = "#0969da"

  /// Draws the entities that were not removed.
  init(_ schema: Schema) {
    let layout = SchemaLayout(schema)
    let count = layout.boxes.count
    let arrowCount = layout.boxes.reduce(0) { $0 + $1.arrows.count }
    notes = [
      "\(Numerals.grouped(count)) \(count == 1 ? "entity" : "entities")",
      Numerals.counted(arrowCount, "relationship"),
    ]
    var document = SVGDocument()
    for box in layout.boxes {
      for arrow in box.arrows { SchemaPicture.draw(arrow, into: &document) }
    }
    for box in layout.boxes { SchemaPicture.draw(box, into: &document) }
    for box in layout.boxes {
      for arrow in box.arrows { SchemaPicture.drawInverse(arrow, into: &document) }
    }
    svg = document.file(
      width: layout.width + 2 * SchemaLayout.margin,
      height: layout.height + 2 * SchemaLayout.margin,
      title: "Schema: " + notes.joined(separator: ", "))
  }

  private static func draw(_ box: SchemaLayout.Box, into document: inout SVGDocument) {
    document.rectangle(
      x: box.x - 1, y: box.y - 1, width: box.width + 2, height: box.height + 2, fill: frame,
      radius: 5)
    document.rectangle(
      x: box.x, y: box.y, width: box.width, height: box.height, fill: "#ffffff", radius: 4)
    document.rectangle(
      x: box.x, y: box.y, width: box.width, height: SchemaLayout.headerHeight - 4, fill: header,
      radius: 4)
    document.text(
      box.name, x: box.x + 12, y: box.y + SchemaLayout.headerHeight - 10, size: 13, isBold: true)
    for (index, line) in box.lines.enumerated() {
      let bottom = SchemaLayout.headerHeight + (Double(index) + 0.5) * SchemaLayout.lineHeight
      document.text(line, x: box.x + 12, y: box.y + bottom + 4)
    }
    for arrow in box.arrows {
      document.text(arrow.text, x: box.x + 12, y: arrow.start.y + 4, fill: SchemaPicture.arrow)
    }
  }

  private static func draw(_ arrow: SchemaLayout.Arrow, into document: inout SVGDocument) {
    let direction = arrow.isReversed ? -1.0 : 1.0
    guard !arrow.isLoop else { return drawLoop(arrow, into: &document) }
    let tip = (x: arrow.end.x - 8 * direction, y: arrow.end.y)
    document.curve(
      through: [arrow.start] + arrow.bends + [tip], direction: direction,
      stroke: SchemaPicture.arrow)
    document.polygon(
      [(arrow.end.x, tip.y), (tip.x, tip.y - 4), (tip.x, tip.y + 4)], fill: SchemaPicture.arrow)
  }

  /// An arrow from a box to itself: a bow at its right side.
  private static func drawLoop(_ arrow: SchemaLayout.Arrow, into document: inout SVGDocument) {
    let (x, y) = arrow.start
    let top = y - SchemaLayout.lineHeight / 2
    document.bow(x: x, from: y + 3, to: top - 2, depth: 26, stroke: SchemaPicture.arrow)
    document.polygon(
      [(x, top - 2), (x + 8, top - 6), (x + 8, top + 2)], fill: SchemaPicture.arrow)
  }

  /// The name of the inverse, at the point of the arrow.
  private static func drawInverse(
    _ arrow: SchemaLayout.Arrow, into document: inout SVGDocument
  ) {
    guard let inverse = arrow.inverse else { return }
    if arrow.isLoop {
      document.text(inverse, x: arrow.start.x + 30, y: arrow.start.y, size: 10, fill: frame)
    } else {
      document.text(
        inverse, x: arrow.end.x - (arrow.isReversed ? -12 : 12), y: arrow.end.y - 4, size: 10,
        fill: frame, anchor: arrow.isReversed ? .start : .end)
    }
  }
}
