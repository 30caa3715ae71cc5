/// A log that replicas of one store share: it alone decides the order of their transactions.
///
/// A conformer joins Annals to an engine that exists: a stream with sequence numbers, and a place
/// for objects of many megabytes. What it must promise:
///
/// - **One order.** Records have the sequences 1, 2, 3 and so on. `append` takes a record only if
///   the last one is the one that the caller expects, by its sequence and its identifier, whoever
///   else appends meanwhile. (Where an engine compares sequences alone, the conformer reads the
///   last record whenever it connects anew, and compares that.)
/// - **Acknowledged is kept**: once `append` has returned, every later call of anybody finds the
///   record, unless the log is damaged, or lost its tail. (Replicas find that out, keep what they
///   have, and append again what was lost: the same records, at the same sequences.)
/// - **Whole or not at all**: a record, and an object once it is complete, has all of its bytes.
///
/// What it need not promise: that an acknowledgement arrives, that a page has each record once and
/// in order, that a request arrives at once, or that the log remembers an identifier for ever.
///
/// All calls may come from any task at any time.
public protocol SharedLog: Sendable {
  /// The most bytes of one record.
  var longestRecord: Int { get }

  /// The most bytes of one piece of an object.
  var longestPiece: Int { get }

  /// Appends a record if the log's last one is `last`.
  ///
  /// A record with an identifier that the log has taken already, and remembers, is not appended
  /// again: the call returns the sequence that it has. One that the log had and lost is appended
  /// like a new one; a log that still remembers its identifier, and has it no more, throws
  /// `.unavailable` until it has forgotten it. Where all records were trimmed, `last` is compared
  /// by its sequence alone.
  ///
  /// - Returns: the sequence of the record, the one after that of `last`.
  /// - Throws: `.behind` if the log's last record is another one, `.unknownOutcome` if the record
  ///   may have been taken or may yet be, `.unavailable` if it was not and will not be, `.tooLong`,
  ///   `.refused`.
  func append(
    _ record: SharedRecord, after last: SharedLogEnd
  ) async throws(SharedLogError) -> UInt64

  /// Appends records one after the other, the first one if the log's last one is `last`: as many of
  /// them, from the first on, as it takes.
  ///
  /// Each is appended as by `append`, after the one before it, and never otherwise: whatever
  /// becomes of one, a record behind it is not in the log without it. So all can be on their way
  /// at once.
  /// Without an implementation of its own, a log is asked for one after the other.
  ///
  /// - Returns: the sequences of those that the log has, and why it has not the rest.
  func append(
    contentsOf records: [SharedRecord], after last: SharedLogEnd
  ) async -> SharedLogAnswer

  /// The records from a sequence on, at most as many as `limit`, and where the log begins and ends.
  ///
  /// Never answers from a state that is older than an acknowledged `append` of the same caller.
  /// The page is empty if nothing is there yet; it may hold a record twice, or out of order.
  ///
  /// Throws `.unavailable`, `.refused`.
  func records(from sequence: UInt64, limit: Int) async throws(SharedLogError) -> SharedLogPage

  /// The sequence of the log's last record, each time that it may have grown beyond `sequence`.
  /// Elements may be missed, or come late: they are a reason to look. It also comes when the log is
  /// found to end before that, since it lost its tail. Ends when the task that reads
  /// it is cancelled; a conformer that loses its connection goes on when it has it again.
  func growth(after sequence: UInt64) -> AsyncStream<UInt64>

  /// Tells whoever else uses the log that the caller was too slow several times, and asks them to
  /// append nothing for a while. It may be lost, and binds nobody. Returns at once. A log without
  /// a way to do so does nothing.
  func ask(for turn: TurnRequest)

  /// What others have asked for, and perhaps the caller. Ends when the task that reads it is
  /// cancelled, or at once.
  func turnRequests() -> AsyncStream<TurnRequest>

  /// Stores a piece of an object, at its place among the pieces, from 0. Pieces have the length
  /// that the object says, but for the last. A piece that is put again is replaced.
  ///
  /// Throws `.unavailable`, `.unknownOutcome`, `.tooLong`, `.refused`.
  func put(_ piece: [UInt8], at index: Int, of object: String) async throws(SharedLogError)

  /// Makes an object whose pieces are all there visible to everybody, in place of one of the same
  /// name. An object may have no pieces, and be its description alone: so a replica registers.
  /// Throws as `put`.
  func complete(_ object: SharedObject) async throws(SharedLogError)

  /// The complete objects whose names begin so, by name. Whoever has read a record finds the
  /// objects that were complete before it was appended; later changes of others may be missing for
  /// a while. Throws `.unavailable`, `.refused`.
  func objects(beginning prefix: String) async throws(SharedLogError) -> [SharedObject]

  /// Pieces of a complete object: those of a range that is not empty, or as many of them from its
  /// beginning on as the log gives at once, at least one. Throws `.missing` if the first one is
  /// gone, `.unavailable`, `.refused`.
  func pieces(
    _ range: Range<Int>, of object: SharedObject
  ) async throws(SharedLogError) -> [[UInt8]]

  /// Removes an object, complete or not, with its pieces. Does nothing if there is none. Throws as
  /// `put`.
  func remove(object name: String) async throws(SharedLogError)

  /// Drops the records before a sequence. Those from it on keep their sequences. May take effect
  /// later than it was asked for. Throws as `put`.
  func trim(before sequence: UInt64) async throws(SharedLogError)
}

extension SharedLog {
  /// Asks the log for one record after the other, until it does not take one.
  public func append(
    contentsOf records: [SharedRecord], after last: SharedLogEnd
  ) async -> SharedLogAnswer {
    var answer = SharedLogAnswer(sequences: [])
    var end = last
    for record in records {
      do throws(SharedLogError) {
        end = SharedLogEnd(sequence: try await append(record, after: end), id: record.id)
        answer.sequences.append(end.sequence)
      } catch {
        answer.failure = error
        break
      }
    }
    return answer
  }
}

/// What a shared log answers to records that were given to it together.
public struct SharedLogAnswer: Sendable {
  /// The sequences of the records that it has, from the first on.
  public var sequences: [UInt64]
  /// Why it has not the record after those; nil if it has all. What the error says holds for all
  /// the rest: with `.unknownOutcome` each of them may be in the log, or may yet be; with any other
  /// one none will be.
  public var failure: SharedLogError?

  /// Creates an answer from its parts.
  public init(sequences: [UInt64], failure: SharedLogError? = nil) {
    self.sequences = sequences
    self.failure = failure
  }
}

/// What a shared log holds: an identifier that tells a record that is sent again, and bytes.
public struct SharedRecord: Hashable, Sendable {
  /// Letters and digits, at most 64; the same for the same bytes. (What an erasure has left of a
  /// transaction that a log lost has the identifier of the whole.)
  public var id: String
  /// What the record says.
  public var bytes: [UInt8]

  /// Creates a record from its parts.
  public init(id: String, bytes: [UInt8]) {
    self.id = id
    self.bytes = bytes
  }
}

/// The last record of a log, as somebody knows it.
public struct SharedLogEnd: Hashable, Sendable {
  /// Its sequence; 0 if the log never had a record.
  public var sequence: UInt64
  /// Its identifier; nil if the log never had a record.
  public var id: String?

  /// Creates an end from its parts.
  public init(sequence: UInt64, id: String?) {
    self.sequence = sequence
    self.id = id
  }

  /// The end of a log that never had a record.
  public static let beginning = SharedLogEnd(sequence: 0, id: nil)
}

/// Some of a log's records, and where the log begins and ends.
public struct SharedLogPage: Sendable {
  /// The records with their sequences.
  public var records: [(sequence: UInt64, record: SharedRecord)]
  /// The sequence of the log's first record; of the next one if it has none.
  public var first: UInt64
  /// The sequence of its last record; 0 if it never had any.
  public var last: UInt64

  /// Creates a page from its parts.
  public init(
    records: [(sequence: UInt64, record: SharedRecord)], first: UInt64, last: UInt64
  ) {
    self.records = records
    self.first = first
    self.last = last
  }
}

/// Something of many pieces that a log keeps beside its records: a snapshot of the store, or a
/// transaction that is longer than a record may be.
public struct SharedObject: Hashable, Sendable {
  /// The name: letters, digits, `/` and `-`, at most 128.
  public var name: String
  /// The count of bytes.
  public var length: UInt64
  /// The count of bytes of each piece but the last.
  public var pieceLength: Int
  /// The digest of all bytes.
  public var digest: Digest
  /// What else is to be known of it; at most 1 KiB.
  public var details: [UInt8]

  /// Creates an object's description from its parts.
  public init(name: String, length: UInt64, pieceLength: Int, digest: Digest, details: [UInt8] = [])
  {
    self.name = name
    self.length = length
    self.pieceLength = pieceLength
    self.digest = digest
    self.details = details
  }

  /// How many pieces it has.
  public var pieceCount: Int {
    pieceLength > 0 ? Int((length + UInt64(pieceLength) - 1) / UInt64(pieceLength)) : 0
  }

  /// About the most bytes of pieces that are asked for at once.
  private static let pageLength = 8 << 20

  /// The pieces to ask for at once, from one of them on.
  func page(from index: Int) -> Range<Int> {
    index..<min(index + max(1, SharedObject.pageLength / max(pieceLength, 1)), pieceCount)
  }
}

/// Why a shared log did not do what it was asked.
public enum SharedLogError: Error, Hashable, Sendable {
  /// The log's last record is another one than the caller expected: it has this sequence.
  case behind(last: UInt64)
  /// The log cannot be reached now; what was asked was not done. The text says why.
  case unavailable(String)
  /// The log was asked, and did not answer: what was asked may have been done, or may yet be.
  case unknownOutcome(String)
  /// The bytes are more than the log takes.
  case tooLong(limit: Int)
  /// There is no such object or piece.
  case missing(String)
  /// The log does not allow what was asked, and would not later.
  case refused(String)
}
