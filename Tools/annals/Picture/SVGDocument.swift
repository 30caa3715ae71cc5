/// Builds an SVG picture. Escapes every text, and writes numbers with one decimal digit, so that
/// the same picture has the same bytes everywhere.
struct SVGDocument {
  private var body = ""

  /// The alignment of a text at its position.
  enum Anchor: String {
    case start, middle, end
  }

  mutating func rectangle(
    x: Double, y: Double, width: Double, height: Double, fill: String, radius: Double = 0,
    title: String? = nil
  ) {
    let corner = radius > 0 ? " rx=\"\(number(radius))\"" : ""
    element(
      "rect",
      "x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\" "
        + "height=\"\(number(height))\"\(corner) fill=\"\(fill)\"", title)
  }

  mutating func circle(x: Double, y: Double, radius: Double, fill: String, title: String? = nil) {
    element(
      "circle", "cx=\"\(number(x))\" cy=\"\(number(y))\" r=\"\(number(radius))\" fill=\"\(fill)\"",
      title)
  }

  /// A filled shape with these corners.
  mutating func polygon(_ corners: [(Double, Double)], fill: String, title: String? = nil) {
    let points = corners.map { "\(number($0.0)),\(number($0.1))" }.joined(separator: " ")
    element("polygon", "points=\"\(points)\" fill=\"\(fill)\"", title)
  }

  mutating func line(
    x1: Double, y1: Double, x2: Double, y2: Double, stroke: String, dashes: String? = nil
  ) {
    let dash = dashes.map { " stroke-dasharray=\"\($0)\"" } ?? ""
    element(
      "line",
      "x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\" "
        + "stroke=\"\(stroke)\"\(dash)", nil)
  }

  /// A curve through these points, which it leaves and reaches horizontally. `direction` is 1 from
  /// left to right, and -1 from right to left.
  mutating func curve(
    through points: [(x: Double, y: Double)], direction: Double, stroke: String
  ) {
    guard let first = points.first else { return }
    var path = "M\(number(first.x)) \(number(first.y))"
    for (from, to) in zip(points, points.dropFirst()) {
      let reach = max(abs(to.x - from.x) / 2, 20) * direction
      path +=
        " C\(number(from.x + reach)) \(number(from.y)) \(number(to.x - reach)) \(number(to.y)) "
        + "\(number(to.x)) \(number(to.y))"
    }
    element("path", "d=\"\(path)\" fill=\"none\" stroke=\"\(stroke)\"", nil)
  }

  /// A bow to the right, between two heights.
  mutating func bow(x: Double, from: Double, to: Double, depth: Double, stroke: String) {
    let right = number(x + depth)
    let path =
      "M\(number(x)) \(number(from)) C\(right) \(number(from)) \(right) \(number(to)) "
      + "\(number(x)) \(number(to))"
    element("path", "d=\"\(path)\" fill=\"none\" stroke=\"\(stroke)\"", nil)
  }

  mutating func text(
    _ text: String, x: Double, y: Double, size: Double = 11, fill: String = "#24292f",
    anchor: Anchor = .start, isBold: Bool = false
  ) {
    let weight = isBold ? " font-weight=\"600\"" : ""
    let place = anchor == .start ? "" : " text-anchor=\"\(anchor.rawValue)\""
    body +=
      "<text x=\"\(number(x))\" y=\"\(number(y))\" font-size=\"\(number(size))\" fill=\"\(fill)\""
      + "\(place)\(weight)>\(SVGDocument.escaped(text))</text>\n"
  }

  /// Adds another drawing on top.
  mutating func append(_ other: SVGDocument) { body += other.body }

  private mutating func element(_ name: String, _ attributes: String, _ title: String?) {
    guard let title else {
      body += "<\(name) \(attributes)/>\n"
      return
    }
    body += "<\(name) \(attributes)><title>\(SVGDocument.escaped(title))</title></\(name)>\n"
  }

  /// The whole file.
  func file(width: Double, height: Double, title: String) -> String {
    let size = "\(number(width)) \(number(height))"
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(size)" width="\(number(width))" \
      height="\(number(height))" font-family="system-ui, 'DejaVu Sans', sans-serif" role="img">
      <title>\(SVGDocument.escaped(title))</title>
      <rect width="100%" height="100%" fill="#ffffff"/>
      \(body)</svg>

      """
  }

  private func number(_ value: Double) -> String {
    let tenths = Int64((min(max(value, -1e9), 1e9) * 10).rounded())
    let whole = "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10)"
    return tenths % 10 == 0 ? whole : "\(whole).\(tenths.magnitude % 10)"
  }

  /// The text escaped for XML. Characters that XML forbids become the replacement character;
  /// characters that change the direction of writing become escapes.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in ValueText.plain(text).unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The estimated width of a text, rather too great than too small.
  static func width(_ text: String, size: Double = 11) -> Double {
    var width = 0.0
    for scalar in text.unicodeScalars {
      switch scalar {
      case "i", "j", "l", "I", "f", "t", "r", ".", ",", ":", ";", "'", "|", "!", " ", "(", ")", "[",
        "]":
        width += 0.40
      case "m", "w", "M", "W", "@", "%": width += 0.98
      case "A"..."Z": width += 0.74
      default:
        width += scalar.value < 0x1100 ? 0.64 : 1.05
        // Combining marks take no width.
        if scalar.properties.canonicalCombiningClass != .notReordered { width -= 0.64 }
      }
    }
    return width * size
  }
}
