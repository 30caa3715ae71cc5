import Annals
import AnnalsExchange
import AnnalsReplication
import Foundation

/// What `annals replicate status` prints.
struct SurveyText {
  let survey: ReplicaSurvey
  let file: String
  /// The log's address; nil if none was asked.
  let log: String?
  /// Why the log could not be asked; nil if it could, or was not to be.
  var outage: String?

  /// Why the file and the log do not go together; nil if they do, as far as was looked.
  var fault: String? {
    if let theirs = survey.log?.store, theirs != UUID(survey.token.store) {
      return "the log is of another store, \(theirs)"
    }
    guard let sequence = survey.sequence else {
      return "its newest transaction did not come from a shared log"
    }
    guard let state = survey.log else { return nil }
    if sequence > state.last {
      return "the log ends with record \(Numerals.grouped(state.last)): it lost its tail, or an "
        + "older state of it was restored"
    }
    if state.agrees == false {
      return "the log has another record \(Numerals.grouped(sequence)) than the file"
    }
    if state.first > sequence + 1 {
      return "the log begins with record \(Numerals.grouped(state.first)), after what the file "
        + "needs next"
    }
    return nil
  }

  func write(_ console: Console) throws {
    let output = console.output
    let record = survey.sequence.map { ", record \(Numerals.grouped($0)) of the log" } ?? ""
    try output.line("store     \(survey.token.store)")
    try output.line(
      "file      transaction \(Numerals.grouped(survey.token.number))\(record)  \(file)")
    if let state = survey.log, let log {
      let range =
        state.last < state.first
        ? "empty" : "records \(Numerals.grouped(state.first)) to \(Numerals.grouped(state.last))"
      try output.line("log       \(range)  \(log)")
      if let snapshot = state.snapshot, let length = state.snapshotLength {
        let sequence = Numerals.grouped(state.snapshotSequence ?? 0)
        try output.line(
          "snapshot  transaction \(Numerals.grouped(snapshot.number)), record \(sequence), "
            + Numerals.size(length))
      } else {
        try output.line("snapshot  none")
      }
    }
    if let lag = survey.lag, fault == nil {
      try output.line("lag       \(Numerals.counted(lag, "transaction"))")
    }
    try writeReplicas(console)
    if let outbox = survey.outbox {
      try output.line("outbox    \(SurveyText.text(outbox, console))")
    }
    if let outage {
      try output.line("problem   the log cannot be asked: \(outage)", .deleted)
    }
    if let fault { try output.line("problem   \(fault)", .deleted) }
  }

  /// The registered replicas, and what holds the log's trimming back.
  private func writeReplicas(_ console: Console) throws {
    guard let state = survey.log, !state.replicas.isEmpty else { return }
    var label = "replicas  "
    for replica in state.replicas {
      let lag = state.last > replica.sequence ? state.last - replica.sequence : 0
      let seen = max(Date(console.now()).timeIntervalSince(replica.renewed), 0)
      let parts = [
        "\(replica.shortID) \(replica.name): record \(Numerals.grouped(replica.sequence))",
        lag == 0 ? nil : "\(Numerals.grouped(lag)) behind",
        replica.consumer.map {
          "consumer \($0.name) at record \(Numerals.grouped($0.sequence))"
        },
        "seen \(Numerals.length(seen)) ago",
        SurveyText.lease(of: replica, console),
      ]
      try console.output.line(label + parts.compactMap { $0 }.joined(separator: ", "))
      label = "          "
    }
    if let hold = state.holds.first {
      try console.output.line("held by   \(hold)")
    }
  }

  /// For how long the log is still kept for a replica; nil for one that asks for nothing.
  private static func lease(of replica: ReplicaRegistration, _ console: Console) -> String? {
    if replica.lease == 0 { return nil }
    let rest = replica.expiry.timeIntervalSince(Date(console.now()))
    return rest > 0 ? "the log is kept for it for \(Numerals.length(rest))" : "its lease has ended"
  }

  /// `3 drafts, 1 in conflict, 1.2 kB, the oldest of 2 h ago`.
  static func text(_ outbox: OutboxStatus, _ console: Console) -> String {
    if outbox.count == 0 { return "empty" }
    let conflicts =
      outbox.conflictCount > 0 ? ", \(Numerals.grouped(outbox.conflictCount)) in conflict" : ""
    let size = Numerals.size(outbox.byteCount)
    let age = outbox.oldest.map { oldest in
      let now = console.now().microseconds
      let length = Double(now - Timestamp(oldest).microseconds) / 1e6
      return ", the oldest of \(Numerals.length(length)) ago"
    }
    return "\(Numerals.counted(outbox.count, "draft"))\(conflicts), \(size)\(age ?? "")"
  }

  func writeLine(_ console: Console) throws {
    try console.output.object { json in
      json.member("store", survey.token.store.description)
      json.member("transaction", survey.token.number)
      if let sequence = survey.sequence { json.member("record", Int64(clamping: sequence)) }
      if let state = survey.log {
        json.member("first", Int64(clamping: state.first))
        json.member("last", Int64(clamping: state.last))
        if let snapshot = state.snapshot { json.member("snapshot", snapshot.number) }
        if let length = state.snapshotLength {
          json.member("snapshotBytes", Int64(clamping: length))
        }
      }
      if let outbox = survey.outbox {
        json.member("waiting", Int64(outbox.count))
        json.member("conflicts", Int64(outbox.conflictCount))
        json.member("waitingBytes", Int64(outbox.byteCount))
        if let oldest = outbox.oldest {
          json.member("oldest", .date(Timestamp(oldest)), as: .date)
        }
      }
      if let lag = survey.lag { json.member("lag", Int64(clamping: lag)) }
      if let outage { json.member("outage", outage) }
      if let fault { json.member("problem", fault) }
      if let hold = survey.log?.holds.first {
        json.member("heldBy", "\(hold)")
        json.member("heldAt", Int64(clamping: hold.sequence))
      }
    }
    for replica in survey.log?.replicas ?? [] { try writeLine(replica, console) }
  }

  private func writeLine(_ replica: ReplicaRegistration, _ console: Console) throws {
    try console.output.object { json in
      json.member("replica", replica.id.uuidString)
      json.member("name", replica.name)
      json.member("transaction", replica.number)
      json.member("record", Int64(clamping: replica.sequence))
      if let last = survey.log?.last {
        json.member("lag", Int64(clamping: last > replica.sequence ? last - replica.sequence : 0))
      }
      if let consumer = replica.consumer {
        json.member("consumer", consumer.name)
        json.member("consumerRecord", Int64(clamping: consumer.sequence))
      }
      json.member("seen", .date(Timestamp(replica.renewed)), as: .date)
      json.member("leaseEnds", .date(Timestamp(replica.expiry)), as: .date)
    }
  }
}

extension ReplicaRegistration {
  /// The beginning of its id, which mostly names it.
  var shortID: String { String(id.uuidString.prefix(8)) }
}
