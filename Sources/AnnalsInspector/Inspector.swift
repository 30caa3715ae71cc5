import Annals
import AnnalsModel
import Foundation

/// Answers requests about a store, or about the stores of a folder: what the inspector's page and
/// the command show. Never writes.
///
/// Safe on any thread. An answer takes a bounded time and a bounded memory; long work is answered
/// in parts.
public final class Inspector: Sendable {
  let place: InspectedPlace

  /// Shows the file or the folder at the path. Reads nothing of a file yet, so that damaged ones
  /// and foreign ones can be shown, too.
  ///
  /// Throws `.notFound` if there is none.
  public init(path: String) throws(AnnalsError) {
    place = try InspectedPlace(path: path)
  }

  /// The folder that is shown; nil for one file.
  public var folder: String? { place.folder }

  /// Closes all stores.
  public func close() { place.close() }

  /// Answers a request; a mistake or damage is an answer, too.
  public func answer(
    _ request: InspectorRequest, cancellation: InspectorCancellation = InspectorCancellation()
  ) -> InspectorAnswer {
    var file: InspectedFile?
    do {
      return try answer(request, cancellation.own, &file)
    } catch let error as AnnalsError {
      return Inspector.answer(FaultDocument.Fault(error, of: file), status: error.status)
    } catch let fault as RequestFault {
      let status =
        switch fault.kind {
        case .usage, .failed: 400
        case .notFound: 404
        case .cancelled: 499
        }
      return Inspector.answer(FaultDocument.Fault(fault), status: status)
    } catch {
      let fault = FaultDocument.Fault(code: "internal", message: "\(error)")
      return Inspector.answer(fault, status: 500)
    }
  }

  private func answer(
    _ request: InspectorRequest, _ cancellation: Cancellation, _ file: inout InspectedFile?
  ) throws -> InspectorAnswer {
    guard let parameters = RequestParameters(query: request.query) else {
      throw RequestFault("the parameters cannot be read", .usage)
    }
    if request.document == "stores" {
      return try Inspector.answer(StoresAsking(place).stores())
    }
    guard request.document == "value" || Asking.documents[request.document] != nil else {
      throw RequestFault("there is no document \(request.document.clipped(to: 100))", .notFound)
    }
    let found = try place.file(parameters["store"])
    file = found
    let asking = Asking(found, parameters, cancellation)
    guard let document = Asking.documents[request.document] else {
      return try Inspector.value(asking, request.range)
    }
    return try Inspector.answer(document(asking))
  }

  private static func answer(_ document: any Encodable, status: Int = 200) throws
    -> InspectorAnswer
  {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    return InspectorAnswer(
      status: status, contentType: "application/json; charset=utf-8",
      body: try encoder.encode(document))
  }

  private static func answer(_ fault: FaultDocument.Fault, status: Int) -> InspectorAnswer {
    let fallback = InspectorAnswer(
      status: 500, contentType: "text/plain; charset=utf-8", body: Data())
    return (try? answer(FaultDocument(error: fault), status: status)) ?? fallback
  }

  /// A value's bytes, or the part of them that a range names.
  private static func value(_ asking: Asking, _ range: String?) throws -> InspectorAnswer {
    let wanted = range.flatMap { $0.wholeMatch(of: /bytes=([0-9]{1,15})-([0-9]{0,15})/)?.output }
    let start = wanted.flatMap { Int($0.1) } ?? 0
    let last = wanted.flatMap { Int($0.2) } ?? .max
    let part = try asking.value(from: start, through: last)
    let type = part.isText ? "text/plain; charset=utf-8" : "application/octet-stream"
    var answer = InspectorAnswer(contentType: type, body: Data(part.bytes))
    answer.headers.append(("Accept-Ranges", "bytes"))
    answer.headers.append(("X-Length", "\(part.length)"))
    if !part.isText { answer.headers.append(("Content-Disposition", "attachment")) }
    // Of an empty value there is no part.
    if part.length > 0, wanted != nil || part.bytes.count < part.length {
      guard !part.bytes.isEmpty else {
        answer.status = 416
        answer.headers.append(("Content-Range", "bytes */\(part.length)"))
        return answer
      }
      answer.status = 206
      let end = start + part.bytes.count - 1
      answer.headers.append(("Content-Range", "bytes \(start)-\(end)/\(part.length)"))
    }
    return answer
  }
}
