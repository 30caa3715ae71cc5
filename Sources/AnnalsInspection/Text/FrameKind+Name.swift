import AnnalsFormat

extension FrameKind {
  /// What FORMAT.md calls the kind.
  package var name: String {
    switch self {
    case .transaction: "transaction"
    case .block: "block"
    case .largeValue: "large value"
    case .chunk: "chunk"
    case .checkpoint: "checkpoint"
    case .opening: "opening"
    case .consumerChange: "consumer change"
    case .retention: "retention"
    case .erasure: "erasure"
    case .tombstones: "tombstones"
    case .restorePoint: "restore point"
    case .featureAnnouncement: "feature announcement"
    case .digest: "digest"
    default: "unknown kind"
    }
  }
}
