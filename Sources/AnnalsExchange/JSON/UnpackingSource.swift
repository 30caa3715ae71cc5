import AnnalsFormat

/// The bytes of a source, decompressed if they begin like gzip, otherwise unchanged.
package final class UnpackingSource: ByteSource {
  private let source: any ByteSource
  private let input: UnsafeMutableRawBufferPointer
  private var position = 0
  private var end = 0
  /// The number of compressed bytes read before those in `input`.
  private var base: UInt64 = 0
  private var inflater: GzipInflater?
  private var hasDetected = false

  /// Wraps a source of compressed or plain bytes.
  package init(_ source: any ByteSource, bufferSize: Int = 1 << 16) {
    precondition(bufferSize >= 2)
    self.source = source
    input = .allocate(byteCount: bufferSize, alignment: 16)
  }

  deinit { input.deallocate() }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputFault) -> Int {
    if !hasDetected { try detectGzip() }
    if let inflater { return try unpack(inflater, into: buffer) }
    if position < end {
      let count = min(buffer.count, end - position)
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[position..<position + count]))
      position += count
      return count
    }
    return try source.read(into: buffer)
  }

  private func detectGzip() throws(InputFault) {
    hasDetected = true
    while end < 2 {
      let count = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: input[end...]))
      if count == 0 { return }
      end += count
    }
    guard input[0] == 0x1F, input[1] == 0x8B else { return }
    do throws(GzipInflater.Fault) {
      inflater = try GzipInflater()
    } catch {
      throw InputFault(offset: 0, reason: "no memory to unpack gzip")
    }
  }

  private func unpack(
    _ inflater: GzipInflater, into buffer: UnsafeMutableRawBufferPointer
  ) throws(InputFault) -> Int {
    while true {
      let packed = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(input)[position..<end])
      let step: GzipInflater.Step
      do throws(GzipInflater.Fault) {
        step = try inflater.step(packed, into: buffer)
      } catch {
        throw fault(error == .damaged ? "the gzip stream is damaged" : "no memory to unpack gzip")
      }
      position += step.consumed
      if step.produced > 0 { return step.produced }
      if position < end {
        guard step.consumed > 0 else { throw fault("the gzip stream is damaged") }
        continue
      }
      base += UInt64(end)
      position = 0
      end = try source.read(into: input)
      if end == 0 {
        if step.isComplete { return 0 }
        throw fault("the gzip stream is cut off")
      }
    }
  }

  private func fault(_ reason: String) -> InputFault {
    let offset = base + UInt64(position)
    return InputFault(offset: offset, reason: "\(reason) (at packed byte \(offset))")
  }
}
