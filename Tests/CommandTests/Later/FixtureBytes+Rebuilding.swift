import AnnalsFormat
import AnnalsModel
import AnnalsTestSupport

// Writing a log anew with something in it that was not there; what names offsets follows.
extension FixtureBytes {
  /// A frame to be.
  struct Piece {
    var kind: UInt8
    var flags: UInt8
    var payload: [UInt8]

    init(_ kind: UInt8, _ flags: UInt8, _ payload: [UInt8]) {
      (self.kind, self.flags, self.payload) = (kind, flags, payload)
    }
  }

  /// Adds a frame: behind the last one, with or without a mark behind it, or before transaction
  /// `LaterForm.past`.
  mutating func add(_ piece: Piece, at place: LaterForm.Place) throws {
    guard place == .past else {
      let oldEnd = end
      append(piece.kind, FrameFlags(rawValue: piece.flags), piece.payload)
      guard place == .marked else { return }
      // The new frame begins with its checksum.
      let checksum = bytes[oldEnd..<oldEnd + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
      try moveMarks(from: oldEnd, to: bytes.count, checksum)
      return
    }
    let next = try frame(of: LaterForm.past)
    try rebuild { $0.offset == next ? [piece, $1] : [$1] }
  }

  /// Puts a frame in place of that of a transaction.
  mutating func replaceTransaction(_ number: Int, by piece: Piece) throws {
    let old = try frame(of: number)
    try rebuild { $0.offset == old ? [piece] : [$1] }
  }

  /// Changes the payloads of frames.
  mutating func changePayloads(
    _ change: (FrameInBytes, [UInt8]) throws -> [UInt8]
  ) throws {
    try rebuild { frame, piece in
      [Piece(piece.kind, piece.flags, try change(frame, piece.payload))]
    }
  }

  /// Gives the newest directory an item that no version knows.
  mutating func extendNewestDirectory(_ items: ContiguousArray<UInt8> = [99, 1, 7]) throws {
    let newest = frames(.checkpoint).last?.offset
    try changePayloads { frame, payload in
      guard frame.offset == newest else { return payload }
      var directory = try payload.withUnsafeBytes { try CheckpointDirectory.decode($0) }
      directory.extensions = items
      return Array(directory.encode())
    }
  }

  /// The offset of the frame of a transaction by row.
  func frame(of number: Int) throws -> Int {
    let found = try frames(.transaction).first { frame in
      try bytes[frame.payload].withUnsafeBytes { payload in
        var reader = ByteReader(payload)
        return try reader.readVarInt() == UInt64(number)
      }
    }
    guard let found else { throw TestFailure("no transaction \(number) by row") }
    return found.offset
  }

  /// Says in the slots that mark the end that it is the end of another transaction.
  mutating func raiseHead(to number: Int) throws {
    for index in 0...1 where try bytes.slot(index).durableMark == UInt64(bytes.count) {
      try bytes.editSlot(index) { $0.head = Int64(number) }
    }
  }

  /// Lets the slots that mark one end of the log mark another.
  private mutating func moveMarks(from old: Int, to new: Int, _ checksum: UInt32) throws {
    for index in 0...1 where try bytes.slot(index).durableMark == UInt64(old) {
      try bytes.editSlot(index) {
        ($0.durableMark, $0.extent) = (UInt64(new), UInt64(new))
        $0.markChecksum = checksum
      }
    }
  }

  /// Writes the log anew, each frame as what `change` makes of it, the last of which stands for it.
  /// Directories and slots follow what moves.
  private mutating func rebuild(_ change: (FrameInBytes, Piece) throws -> [Piece]) throws {
    var writer = FrameWriter(behind: try bytes.fileHeader())
    writer.durableMark = nil
    var moves: [UInt64: ChunkReference] = [:]
    // The end and the checksum of what stands for each frame, by that one's checksum.
    var ends: [UInt32: (end: UInt64, checksum: UInt32)] = [:]
    for frame in frames {
      var payload = Array(bytes[frame.payload])
      if frame.header.kind == .checkpoint {
        var directory = try payload.withUnsafeBytes { try CheckpointDirectory.decode($0) }
        directory.move { moves[$0] }
        payload = Array(directory.encode())
      }
      let piece = Piece(frame.header.kind.rawValue, frame.header.flags.rawValue, payload)
      for piece in try change(frame, piece) {
        moves[UInt64(frame.offset)] = ChunkReference(
          offset: writer.offset, length: UInt32(piece.payload.count),
          checksum: piece.payload.withUnsafeBytes { Checksum.crc32($0) }, first: 0, count: 0)
        writer.append(
          FrameKind(rawValue: piece.kind), flags: FrameFlags(rawValue: piece.flags),
          ContiguousArray(piece.payload))
        ends[frame.header.checksum] = (writer.offset, writer.previousChecksum)
      }
    }
    cut(to: Int(FormatLimits.logStart))
    bytes += writer.bytes
    let size = UInt64(bytes.count)
    for index in 0...1 {
      // The frame before the mark is where the one is that it was.
      guard let last = ends[try bytes.slot(index).markChecksum] else { continue }
      try bytes.editSlot(index) { slot in
        (slot.durableMark, slot.markChecksum) = last
        slot.extent = max(slot.durableMark, size)
        slot.checkpointOffset = moves[slot.checkpointOffset]?.offset ?? slot.checkpointOffset
      }
    }
    self = try FixtureBytes(bytes)
  }
}

extension CheckpointDirectory {
  /// Lets everything that names the offset of a frame name its new one.
  fileprivate mutating func move(_ place: (UInt64) -> ChunkReference?) {
    func move(_ offset: inout UInt64) { offset = place(offset)?.offset ?? offset }
    func move(_ chunk: inout ChunkReference) {
      guard let moved = place(chunk.offset) else { return }
      (chunk.offset, chunk.length, chunk.checksum) = (moved.offset, moved.length, moved.checksum)
    }
    func move(_ list: inout [ChunkReference]) { for index in list.indices { move(&list[index]) } }
    move(&names.chunks)
    move(&openings.chunks)
    move(&largeValues.chunks)
    move(&schemaHistory.chunks)
    move(&historyIndex.chunks)
    for index in largeValues.entries.indices { move(&largeValues.entries[index].offset) }
    for index in historyIndex.entries.indices { move(&historyIndex.entries[index].offset) }
    if var older = previousCheckpoint {
      move(&older.offset)
      previousCheckpoint = older
    }
    for entity in entities.indices {
      move(&entities[entity].rows)
      for column in entities[entity].columns.indices {
        move(&entities[entity].columns[column].chunks)
      }
      for index in entities[entity].indexes.indices {
        for chunk in entities[entity].indexes[index].chunks.indices {
          move(&entities[entity].indexes[index].chunks[chunk].reference)
        }
      }
    }
  }
}
