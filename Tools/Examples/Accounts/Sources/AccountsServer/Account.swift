import Annals

/// An account.
struct Account: Record, Codable {
  var name: String
  /// What is in it, in cents: never less than nothing, whoever writes.
  var balance: Int

  static let entity = RecordEntity(
    "Account", Account.init,
    Property("name", \.name).unique().length(1...100),
    Property("balance", \.balance).range(0...))
}

/// A transfer that was made. Its id is the client's, so that a transfer which is asked for again
/// is made once.
struct Transfer: Record, Codable {
  var id: String
  var from: String
  var to: String
  var amount: Int

  static let entity = RecordEntity(
    "Transfer", Transfer.init,
    Property("id", \.id).unique().length(1...100),
    Property("from", \.from).indexed(),
    Property("to", \.to).indexed(),
    Property("amount", \.amount).range(1...))
}
