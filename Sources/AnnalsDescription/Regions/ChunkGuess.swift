import AnnalsFormat
import AnnalsInspection
import AnnalsModel

/// A guess at what a chunk holds, from its bytes alone. Only the directory that names it knows,
/// which comes later in the file, or is lost.
///
/// Chunks of state say what they are. Chunks of tables do not, so the first table whose entries
/// decode is assumed.
enum ChunkGuess {
  case state(ChunkHeader)
  case table(name: String, count: Int)
  case projection(ProjectionCodec.Contents)

  init?(_ payload: UnsafeRawBufferPointer) {
    var reader = ByteReader(payload)
    if let header = try? ChunkHeader(&reader),
      (try? ChunkContents(payload, as: header.role)) != nil
    {
      self = .state(header)
    } else if let contents = try? ProjectionCodec.decode(payload) {
      self = .projection(contents)
    } else if let list = try? TableCodec<SchemaHistoryEntry>.decode(payload) {
      self = .table(name: "schema changes", count: list.count)
    } else if let list = try? TableCodec<Opening>.decode(payload) {
      self = .table(name: "openings", count: list.count)
    } else if let list = try? TableCodec<SegmentObjects>.decode(payload),
      list.allSatisfy({ (try? $0.ranges()) != nil })
    {
      self = .table(name: "lists of the objects of segments", count: list.count)
    } else if let list = try? TableCodec<HistoryIndexEntry>.decode(payload),
      list.allSatisfy({ FrameHeader.mayBegin(at: $0.offset) })
    {
      self = .table(name: "entries of the history index", count: list.count)
    } else if let list = try? TableCodec<LargeValueEntry>.decode(payload),
      list.allSatisfy({ FrameHeader.mayBegin(at: $0.offset) })
    {
      self = .table(name: "large values", count: list.count)
    } else if let list = try? TableCodec<String>.decode(payload) {
      self = .table(name: "names", count: list.count)
    } else {
      return nil
    }
  }

  /// The guess as text.
  func text(_ vocabulary: Vocabulary) -> String {
    switch self {
    case .table(let name, let count): return "\(count) \(name)"
    case .projection(let contents):
      return "state of the projection \"\(contents.name)\", version \(contents.version), as of "
        + "\(contents.number): \(contents.state.count) bytes"
    case .state(let header):
      let entity = vocabulary.entityText(header.entity)
      let property = vocabulary.propertyText(header.property, of: header.entity)
      return switch header.content {
      case .rows: "\(header.count) rows of \(entity) from \(header.firstRow)"
      case .column: "\(header.count) values of \(property) of \(entity) from row \(header.firstRow)"
      case .uniqueIndex, .orderedIndex:
        "\(header.count) entries of index \(header.property) of \(entity)"
      case .references:
        "\(header.count) references to chunks of "
          + (header.property == 0 ? "rows" : property) + " of \(entity)"
      }
    }
  }
}
