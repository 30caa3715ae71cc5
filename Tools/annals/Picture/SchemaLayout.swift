import Annals

/// Where the boxes of a schema's entities lie in a picture, and the arrows between them.
struct SchemaLayout {
  /// An entity's box.
  struct Box {
    let name: String
    /// Attributes and indexes.
    let lines: [String]
    var arrows: [Arrow] = []
    var x = 0.0
    var y = 0.0
    var width = 0.0
    var height = 0.0
    /// The arrows that end here, by box and place.
    var ends: [(source: Int, arrow: Int)] = []
  }

  /// A relationship, a line of its box.
  struct Arrow {
    let text: String
    let target: Int
    let inverse: String?
    /// The bends between the boxes.
    var bends: [(x: Double, y: Double)] = []
    /// Where it leaves its box, and where it ends.
    var start = (x: 0.0, y: 0.0)
    var end = (x: 0.0, y: 0.0)
    var isLoop = false
    var isReversed = false
  }

  /// The height of a line, and of a box's name.
  static let lineHeight = 17.0
  static let headerHeight = 26.0
  /// The space around everything.
  static let margin = 20.0
  private static let portHeight = 15.0
  private static let columnGap = 120.0
  private static let longestLine = 60

  /// One for each entity, in their order.
  private(set) var boxes: [Box]
  /// The size of everything, without margins.
  private(set) var width = 0.0
  private(set) var height = 0.0

  /// Lays out the entities that were not removed.
  init(_ schema: Schema) {
    let entities = schema.entities.filter { !$0.isRemoved }
    boxes = entities.map { SchemaLayout.content($0, entities, schema) }
    measure()
    arrange()
    connect()
  }

  private static func content(_ entity: Entity, _ entities: [Entity], _ schema: Schema) -> Box {
    var lines = entity.attributes.filter { !$0.isRemoved }.map {
      cut(schema.description(of: $0, in: entity))
    }
    for index in entity.indexes {
      lines.append(cut((index.isUnique ? "unique index " : "index ") + index.name))
    }
    var box = Box(name: cut(entity.name), lines: lines)
    for relationship in entity.relationships where !relationship.isRemoved {
      guard let target = entities.firstIndex(where: { $0.number == relationship.destination })
      else { continue }
      let text = schema.description(of: relationship)
      box.arrows.append(
        Arrow(text: cut(text), target: target, inverse: relationship.inverseName.map(cut)))
    }
    return box
  }

  private static func cut(_ text: String) -> String {
    text.count > longestLine ? text.prefix(longestLine - 1) + "…" : text
  }

  // MARK: Layout

  private mutating func measure() {
    for (index, box) in boxes.enumerated() {
      for (place, arrow) in box.arrows.enumerated() where arrow.target != index {
        boxes[arrow.target].ends.append((index, place))
      }
    }
    for index in boxes.indices {
      let box = boxes[index]
      let texts = box.lines + box.arrows.map(\.text)
      let longest = (texts.map { SVGDocument.width($0) } + [SVGDocument.width(box.name, size: 13)])
      boxes[index].width = max(longest.max() ?? 0, 80) + 24
      let lines = Double(texts.count) * SchemaLayout.lineHeight + SchemaLayout.headerHeight + 8
      boxes[index].height = max(lines, Double(box.ends.count + 1) * SchemaLayout.portHeight)
    }
  }

  /// Puts the boxes that arrows join into columns, and the others in rows below.
  private mutating func arrange() {
    let joined = boxes.indices.filter { index in
      !boxes[index].ends.isEmpty || boxes[index].arrows.contains { $0.target != index }
    }
    var places: [Int: Int] = [:]
    for (place, index) in joined.enumerated() { places[index] = place }
    var edges: [(from: Int, to: Int)] = []
    var arrows: [(source: Int, arrow: Int)] = []
    for index in joined {
      for (arrow, to) in boxes[index].arrows.enumerated() where to.target != index {
        guard let from = places[index], let to = places[to.target] else { continue }
        edges.append((from, to))
        arrows.append((index, arrow))
      }
    }
    let graph = LayeredGraph(heights: joined.map { boxes[$0].height }, edges: edges)
    var x = SchemaLayout.margin
    var columns: [ClosedRange<Double>] = []
    for column in graph.columns {
      let entities = column.filter { $0 < joined.count }
      let width = entities.map { boxes[joined[$0]].width }.max() ?? 0
      for node in entities {
        boxes[joined[node]].x = x + (width - boxes[joined[node]].width) / 2
        boxes[joined[node]].y =
          graph.nodes[node].y - boxes[joined[node]].height / 2 + SchemaLayout.margin
      }
      columns.append(x...x + width)
      x += width + SchemaLayout.columnGap
    }
    for (edge, place) in zip(graph.edges, arrows) {
      // Straight past the boxes of a column.
      let bends = edge.bends.flatMap { bend in
        let (column, y) = (columns[graph.nodes[bend].column], graph.nodes[bend].y)
        return [column.lowerBound, column.upperBound].map { (x: $0, y: y + SchemaLayout.margin) }
      }
      boxes[place.source].arrows[place.arrow].bends = edge.isReversed ? bends.reversed() : bends
      boxes[place.source].arrows[place.arrow].isReversed = edge.isReversed
    }
    width = joined.map { right(of: boxes[$0]) }.max() ?? 0
    height = joined.map { boxes[$0].y + boxes[$0].height }.max() ?? 0
    fillRows(boxes.indices.filter { places[$0] == nil })
    height -= SchemaLayout.margin
  }

  /// The right end of a box with its loops, less the margin.
  private func right(of box: Box) -> Double {
    let loops = box.arrows.filter { boxes[$0.target].name == box.name }
    let names = loops.map { SVGDocument.width($0.inverse ?? "", size: 10) }
    return box.x + box.width + (names.max().map { $0 + 40 } ?? 0) - SchemaLayout.margin
  }

  private mutating func fillRows(_ indices: [Int]) {
    let room = max(width, 900)
    var (x, y, rowHeight) = (SchemaLayout.margin, height + SchemaLayout.margin, 0.0)
    for index in indices {
      boxes[index].x = x
      if x > SchemaLayout.margin, right(of: boxes[index]) > room {
        (x, y, rowHeight) = (SchemaLayout.margin, y + rowHeight + 26, 0)
      }
      (boxes[index].x, boxes[index].y) = (x, y)
      let right = right(of: boxes[index])
      x = right + SchemaLayout.margin + 26
      width = max(width, right)
      rowHeight = max(rowHeight, boxes[index].height)
      height = y + rowHeight
    }
  }

  /// Sorts the lines of relationships by where they lead, and the ends of arrows by where they come
  /// from, so that arrows between two boxes do not cross.
  private mutating func connect() {
    for index in boxes.indices {
      let box = boxes[index]
      let order = box.arrows.indices.sorted { a, b in
        let (first, second) = (height(toward: box.arrows[a]), height(toward: box.arrows[b]))
        return first != second ? first < second : a < b
      }
      for (place, arrow) in order.enumerated() {
        let line = Double(box.lines.count + place) + 0.5
        let y = box.y + SchemaLayout.headerHeight + line * SchemaLayout.lineHeight
        let isReversed = box.arrows[arrow].isReversed
        boxes[index].arrows[arrow].start = (isReversed ? box.x : box.x + box.width, y)
        boxes[index].arrows[arrow].isLoop = box.arrows[arrow].target == index
      }
    }
    for index in boxes.indices {
      let box = boxes[index]
      for isReversed in [false, true] {
        let ends = box.ends.filter { boxes[$0.source].arrows[$0.arrow].isReversed == isReversed }
          .sorted { height(of: $0) < height(of: $1) }
        for (place, end) in ends.enumerated() {
          let step = box.height / Double(ends.count + 1)
          boxes[end.source].arrows[end.arrow].end = (
            isReversed ? box.x + box.width : box.x, box.y + step * Double(place + 1)
          )
        }
      }
    }
  }

  /// The height that an arrow leaves for.
  private func height(toward arrow: Arrow) -> Double {
    arrow.bends.first?.y ?? boxes[arrow.target].y + boxes[arrow.target].height / 2
  }

  /// The height that an arrow comes from.
  private func height(of end: (source: Int, arrow: Int)) -> Double {
    let arrow = boxes[end.source].arrows[end.arrow]
    return arrow.bends.last?.y ?? arrow.start.y
  }
}
