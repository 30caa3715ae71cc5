import Foundation

/// What a request asks for: the name of a document, and the query of its address.
public struct InspectorRequest: Sendable {
  /// The name of the document: `overview`, `table`, `value`…
  public var document: String
  /// The parameters as an address has them: `entity=Post&at=412`.
  public var query: String
  /// The value of the header `Range`; nil for none. Only `value` reads it.
  public var range: String?

  /// A request for a document.
  public init(_ document: String, query: String = "", range: String? = nil) {
    self.document = document
    self.query = query
    self.range = range
  }
}

/// An answer to send.
public struct InspectorAnswer: Sendable {
  /// The status of HTTP.
  public var status: Int
  /// The type of the body.
  public var contentType: String
  /// Further headers.
  public var headers: [(name: String, value: String)]
  /// The body: at most some megabytes.
  public var body: Data

  /// An answer of these parts.
  public init(
    status: Int = 200, contentType: String, headers: [(name: String, value: String)] = [],
    body: Data
  ) {
    self.status = status
    self.contentType = contentType
    self.headers = headers
    self.body = body
  }
}

/// Whether whoever asked is gone. Long work asks it now and then.
public final class InspectorCancellation: Sendable {
  let own = Cancellation()

  /// One that nobody has cancelled.
  public init() {}

  /// Ends the work for the request soon.
  public func cancel() { own.cancel() }
}
