#if JetStream

import AnnalsReplication

/// The settings of a stream, as far as they decide whether it keeps what it is given.
struct StreamSettings: Sendable {
  var name: String
  var subjects: [String]
  /// Where it announces what it took; nil if it does not, or with the whole message.
  var notices: String?
  /// The most bytes of a message; nil if the server's limit alone holds.
  var longestMessage: Int?

  /// Reads the settings in an answer about a stream. Throws `.refused` if it would lose data, or
  /// fewer than `replicas` servers keep it; `perSubject` is how many messages of a subject are to
  /// be kept, nil for all.
  init(
    _ answer: JSON, name: String, replicas: Int, perSubject: Int64?
  ) throws(SharedLogError) {
    guard let config = answer["config"], config["name"]?.text == name else {
      throw .refused("the server does not say how the stream \(name) is set")
    }
    self.name = name
    subjects = config["subjects"]?.elements?.compactMap(\.text) ?? []
    if config["republish"]?["headers_only"]?.isTrue == true {
      notices = config["republish"]?["dest"]?.text
    }
    if let limit = config["max_msg_size"]?.number(as: Int.self), limit > 0 {
      longestMessage = limit
    }
    let faults = StreamSettings.faults(config, replicas: replicas, perSubject: perSubject)
    guard faults.isEmpty else {
      throw .refused(
        "the stream \(name) would not keep what it is given: \(faults.joined(separator: "; "))")
    }
  }

  private static func faults(_ config: JSON, replicas: Int, perSubject: Int64?) -> [String] {
    var faults: [String] = []
    func number(_ key: String) -> Int64 { config[key]?.number() ?? 0 }
    if let storage = config["storage"]?.text, storage != "file" {
      faults.append("its storage is \(storage), not file")
    }
    if let retention = config["retention"]?.text, retention != "limits" {
      faults.append("its retention is \(retention), not limits")
    }
    if number("max_age") > 0 { faults.append("it drops messages by age (max_age)") }
    if config["discard"]?.text != "new" {
      for (key, what) in [("max_msgs", "count"), ("max_bytes", "bytes")] where number(key) > 0 {
        faults.append("it drops old messages by their \(what) (\(key) with discard old)")
      }
    }
    let kept = number("max_msgs_per_subject")
    if let perSubject {
      if kept != perSubject {
        faults.append("it keeps \(kept) messages of a subject, not \(perSubject)")
      }
    } else if kept > 0 {
      faults.append("it keeps only \(kept) messages of a subject (max_msgs_per_subject)")
    }
    if config["no_ack"]?.isTrue == true { faults.append("it acknowledges nothing (no_ack)") }
    if config["sealed"]?.isTrue == true { faults.append("it is sealed") }
    if let mirror = config["mirror"]?.values, !mirror.isEmpty {
      faults.append("it is a mirror of another stream")
    }
    if let sources = config["sources"]?.elements, !sources.isEmpty {
      faults.append("it takes messages from other streams (sources)")
    }
    let servers = config["num_replicas"]?.number(as: Int.self) ?? 1
    if servers < replicas { faults.append("\(servers) servers keep it, not \(replicas)") }
    return faults
  }
}

/// The names of the streams and subjects of a log.
struct StreamNames: Sendable {
  let records: String
  let objects: String
  let root: String
  let api: String

  init(_ options: JetStreamOptions) {
    records = options.stream
    objects = options.stream + "-objects"
    root = options.subject ?? "annals.\(options.stream)"
    api = options.domain.map { "$JS.\($0).API" } ?? "$JS.API"
  }

  /// Where records are published.
  var recordSubject: String { root + ".records" }
  /// Where the stream announces the records that it took.
  var noticeSubject: String { root + ".grown" }
  /// The subject of an object's description.
  func subject(ofObject name: String) -> String { "\(root).objects.\(name)" }
  /// The subject of a piece of an object.
  func subject(of piece: some CustomStringConvertible, ofObject name: String) -> String {
    "\(root).pieces.\(name).\(piece)"
  }

  /// The settings of a new stream for records.
  ///
  /// Nothing is ever discarded; if somebody sets a limit later, new records are refused instead of
  /// old ones dropped. Single messages cannot be deleted; a purge from the beginning can, since
  /// that is how a log is trimmed. There is no direct access, which replicas that lag would answer.
  func recordStream(replicas: Int) -> String {
    settings(
      records, [recordSubject], replicas,
      """
      "max_msgs_per_subject":-1,"duplicate_window":120000000000,"deny_delete":true,\
      "republish":{"src":"\(recordSubject)","dest":"\(noticeSubject)","headers_only":true}
      """)
  }

  /// The settings of a new stream for objects: the newest message of each subject is kept.
  func objectStream(replicas: Int) -> String {
    settings(
      objects, [subject(ofObject: "*"), subject(of: "*", ofObject: "*")], replicas,
      "\"max_msgs_per_subject\":1")
  }

  private func settings(
    _ name: String, _ subjects: [String], _ replicas: Int, _ others: String
  ) -> String {
    let quoted = subjects.map { "\"\($0)\"" }.joined(separator: ",")
    return """
      {"name":"\(name)","subjects":[\(quoted)],"retention":"limits","storage":"file",\
      "discard":"\(name == records ? "new" : "old")","max_consumers":-1,"max_msgs":-1,\
      "max_bytes":-1,"max_age":0,"max_msg_size":-1,"num_replicas":\(replicas),\
      "deny_purge":false,"allow_rollup_hdrs":false,"allow_direct":false,\(others)}
      """
  }
}

#endif
