import Annals
import AnnalsFormat
import AnnalsModel

/// A target for hostile bytes. It may throw errors, but must not trap, hang, or need unbounded
/// memory.
public enum FuzzTarget: String, CaseIterable, Sendable {
  case header, slot, record, block, largeValue, directory, chunk, columns, schema
  case projection, consumer, retention, tombstones
  /// The erasure in a transaction's extension area.
  case erasure
  /// The group in a transaction's extension area, and what it undoes.
  case undo
  case history, schemaJSON, text, gzip
  /// A TOKEN and an OBJECT of the command line.
  case arguments
  /// A condition, or sort keys.
  case condition
  /// A log whose frames have valid checksums, whatever their payloads.
  case log
  /// A whole file with recomputed checksums.
  case file
  /// A whole file, unchanged.
  case raw
  /// A whole file that is salvaged, unchanged or with recomputed checksums.
  case salvage

  /// Runs the target on the bytes.
  public func run(_ bytes: UnsafeRawBufferPointer) {
    switch self {
    case .header: _ = try? FileHeader.decode(bytes)
    case .slot: FuzzDecoders.slots(bytes)
    case .record: FuzzDecoders.record(bytes)
    case .block: FuzzDecoders.block(bytes)
    case .largeValue: _ = try? LargeValueCodec.decode(bytes)
    case .directory: FuzzDecoders.directory(bytes)
    case .chunk: FuzzDecoders.chunk(bytes)
    case .columns: FuzzDecoders.columns(bytes)
    case .schema: FuzzDecoders.schema(bytes)
    case .projection: FuzzSideRecords.projection(bytes)
    case .consumer: FuzzSideRecords.consumer(bytes)
    case .retention: FuzzSideRecords.retention(bytes)
    case .tombstones: FuzzSideRecords.tombstones(bytes)
    case .erasure: FuzzSideRecords.erasure(bytes)
    case .undo: FuzzSideRecords.undo(bytes)
    case .history: FuzzTexts.history(bytes)
    case .schemaJSON: FuzzTexts.schema(bytes)
    case .text: FuzzTexts.text(bytes)
    case .gzip: FuzzTexts.gzip(bytes)
    case .arguments: FuzzArguments.run(bytes)
    case .condition: FuzzConditions.run(bytes)
    case .log: FuzzFile(log: bytes)?.run()
    case .file: FuzzFile(sealing: bytes).run()
    case .raw: FuzzFile(bytes: ContiguousArray(bytes)).run()
    case .salvage: FuzzFile(toSalvage: bytes).salvage()
    }
  }

  /// The seeds: pieces of valid files.
  public func seeds(from files: [ContiguousArray<UInt8>]) -> [ContiguousArray<UInt8>] {
    switch self {
    case .header: files.map { ContiguousArray($0.prefix(FormatLimits.blockLength)) }
    case .slot:
      files.flatMap { file in
        FormatLimits.slotOffsets.map { ContiguousArray(file.dropFirst(Int($0)).prefix(60)) }
      }
    case .record: payloads(of: .transaction, in: files)
    case .block: payloads(of: .block, in: files)
    case .largeValue: payloads(of: .largeValue, in: files).map { ContiguousArray($0.prefix(100)) }
    case .directory: payloads(of: .checkpoint, in: files)
    case .chunk: payloads(of: .chunk, in: files)
    case .columns: FuzzDecoders.columnSeeds
    case .schema: FuzzDecoders.schemaSeeds(in: payloads(of: .checkpoint, in: files))
    case .projection: payloads(of: .chunk, in: files).filter { $0.first == 6 }
    case .consumer: payloads(of: .consumerChange, in: files)
    case .retention: payloads(of: .retention, in: files)
    case .tombstones: payloads(of: .tombstones, in: files)
    case .erasure:
      FuzzSideRecords.erasureSeeds(
        in: payloads(of: .transaction, in: files), blocks: payloads(of: .block, in: files))
    case .undo:
      FuzzSideRecords.undoSeeds(
        in: payloads(of: .transaction, in: files), blocks: payloads(of: .block, in: files))
    case .history: FuzzTexts.historySeeds
    case .schemaJSON: FuzzTexts.schemaSeeds
    case .text: FuzzTexts.textSeeds
    case .gzip: FuzzTexts.gzipSeeds
    case .arguments: FuzzArguments.seeds
    case .condition: FuzzConditions.seeds
    case .log: files.compactMap(LogImage.init(file:)).map(\.encoded)
    case .file, .raw, .salvage: files
    }
  }

  private func payloads(
    of kind: FrameKind, in files: [ContiguousArray<UInt8>]
  ) -> [ContiguousArray<UInt8>] {
    files.compactMap(LogImage.init(file:)).flatMap(\.frames).filter { $0.kind == kind.rawValue }
      .map(\.payload)
  }
}
