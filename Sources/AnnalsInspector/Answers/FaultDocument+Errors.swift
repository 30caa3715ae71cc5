import Annals

extension FaultDocument.Fault {
  /// An error of the library, with the command that helps.
  package init(_ error: AnnalsError, of file: InspectedFile?) {
    self.init(code: "\(error.code)", message: error.description.clipped(to: 4_000))
    offset = error.offset
    guard let file else { return }
    switch error.code {
    case .damaged, .missingData: remedy = FindingAdvice.salvage(file.shownPath)
    case .notAnAnnalsFile:
      // What is no store cannot be salvaged.
      if FindingAdvice.hasRootSlot(file.path) { remedy = FindingAdvice.salvage(file.shownPath) }
    case .lost: remedy = CommandWords("log", file.shownPath).text
    default: break
    }
  }

  /// A fault of a request.
  package init(_ fault: RequestFault) {
    let code =
      switch fault.kind {
      case .usage, .failed: "invalidArgument"
      case .notFound: "notFound"
      case .cancelled: "cancelled"
      }
    self.init(
      code: code, message: fault.message.clipped(to: 4_000), parameter: fault.parameter,
      column: fault.column)
  }
}

extension AnnalsError {
  /// The status of an answer that says so.
  var status: Int {
    switch code {
    case .invalidArgument, .invalidInput: 400
    case .notFound, .noSuchObject, .beyondHead: 404
    case .otherStore, .lostBranch: 409
    case .pruned, .lost: 410
    case .damaged, .missingData, .newerVersion, .notAnAnnalsFile, .unsupported: 422
    default: 500
    }
  }
}
