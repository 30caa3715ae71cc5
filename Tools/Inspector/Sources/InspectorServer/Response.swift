import Foundation

/// An answer, as it is sent.
struct Response: Sendable {
  var status: Int
  var headers: [(name: String, value: String)] = []
  var body = Data()
  /// Whether the body goes on for ever, and its length is not known.
  var isStream = false

  /// What every answer says: nothing but the page's own files runs in it, nobody may frame it, and
  /// nothing of it is kept.
  static let protection: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        + "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
        + "frame-ancestors 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "interest-cohort=()"),
  ]

  private static let reasons = [
    200: "OK", 206: "Partial Content", 303: "See Other", 304: "Not Modified", 400: "Bad Request",
    401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    408: "Request Timeout", 409: "Conflict", 410: "Gone", 413: "Content Too Large",
    416: "Range Not Satisfiable", 421: "Misdirected Request", 422: "Unprocessable Content",
    431: "Request Header Fields Too Large", 499: "Client Closed Request",
    500: "Internal Server Error", 503: "Service Unavailable", 505: "HTTP Version Not Supported",
  ]

  /// The bytes of the head.
  func head(keepsAlive: Bool) -> Data {
    var lines = ["HTTP/1.1 \(status) \(Response.reasons[status] ?? "Status")"]
    for (name, value) in Response.protection + headers { lines.append("\(name): \(value)") }
    if !isStream, status != 304 { lines.append("Content-Length: \(body.count)") }
    lines.append("Connection: \(keepsAlive && !isStream ? "keep-alive" : "close")")
    return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// A short text for people.
  static func text(_ status: Int, _ text: String) -> Response {
    Response(
      status: status,
      headers: [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")],
      body: Data((text + "\n").utf8))
  }

  /// An error as documents have it.
  static func fault(_ status: Int, _ code: String, _ message: String) -> Response {
    let body = #"{"error":{"code":"\#(code)","message":"\#(message)"}}"#
    return Response(
      status: status,
      headers: [
        ("Content-Type", "application/json; charset=utf-8"), ("Cache-Control", "no-store"),
      ], body: Data(body.utf8))
  }
}
