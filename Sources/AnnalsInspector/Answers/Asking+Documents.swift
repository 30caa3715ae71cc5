extension Asking {
  /// The documents by the names under which requests ask for them.
  package static let documents: [String: @Sendable (Asking) throws -> any Encodable] = [
    "overview": { try $0.overview() },
    "summary": { try $0.summary() },
    "moment": { try $0.moment() },
    "density": { try $0.density() },
    "table": { try $0.table() },
    "plan": { try $0.plan() },
    "groups": { try $0.groups() },
    "object": { try $0.object() },
    "referrers": { try $0.referrers() },
    "blame": { try $0.blame() },
    "life": { try $0.life() },
    "version": { try $0.version() },
    "transactions": { try $0.transactions() },
    "tally": { try $0.tally() },
    "transaction": { try $0.transaction() },
    "diff": { try $0.difference() },
    "timeline": { try $0.timeline() },
    "schema": { try $0.schema() },
    "space": { try $0.space() },
    "since": { try $0.since() },
    "findings": { try $0.findings() },
    "frames": { try $0.frames() },
    "strip": { try $0.strip() },
    "bytes": { try $0.bytes() },
  ]
}
