import AnnalsFormat
import AnnalsModel

extension ChainVerdict: CustomStringConvertible {
  /// The verdict without the word "chain".
  package var description: String {
    switch self {
    case .follows: "ok"
    case .broken(let expected): "broken: the frame before has \(Hex.text(expected))"
    case .unknown: "unknown"
    }
  }
}

extension SlotVerdict: CustomStringConvertible {
  package var description: String {
    switch self {
    case .valid: "ok"
    case .unwritten: "it holds zeros"
    case .foreign(let header):
      "it is of store \(header.store), generation \(header.generation), and the log is not"
    case .damaged(let fault): fault.description
    case .cut: "the file ends before it does"
    case .unchecked: "cannot be checked without the header"
    }
  }
}

extension HeaderFault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .tooShort(let count): "the file is shorter than a header: it has \(count) bytes"
    case .cut(let count):
      "the file is shorter than its header: \(count) of \(FormatLimits.blockLength) bytes"
    case .notAnnals: "not an Annals file: its first bytes are other"
    case .newerVersion(let version, let draft):
      "written in version \(version) of the format (draft \(draft)), which is newer"
    case .olderDraft(let draft):
      "written in draft \(draft) of the format, before version 1"
    case .checksum: "header checksum mismatch"
    case .unknownFeatures(let bits):
      "needs features that this version does not know: \(Features.text(bits))"
    case .invalid(let fault): "a header whose checksum is right, but \(fault)"
    case .foreign:
      "the header is of another store, or of another generation of this one, than what follows it"
    }
  }
}

extension DamageReason: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noFrame: "bytes that are no frame"
    case .invalidFrame(let reason): "a frame whose header is not valid: \(reason)"
    case .newerFrame(let reason): "a frame that this version cannot read: \(reason)"
    case .unreadable: "bytes that the disk cannot read"
    case .tooShort: "bytes too few for a frame"
    case .noSeed: "bytes that cannot be checked without the header"
    }
  }
}

extension PayloadVerdict: CustomStringConvertible {
  package var description: String {
    switch self {
    case .valid: "checksum ok"
    case .mismatch: "payload checksum mismatch"
    case .cut(let missing): "cut off: \(missing) bytes are missing"
    case .unchecked: "payload not checked"
    }
  }
}
