import Annals
import AnnalsExchange

extension JSONWriter {
  /// Writes a transaction's token and process, which are valid only in this store.
  mutating func origin(of transaction: Transaction) {
    member("token", transaction.token.description)
    if let process = transaction.processName { member("process", process) }
    if let number = transaction.processID { member("pid", number) }
  }
}
