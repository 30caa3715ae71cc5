import AnnalsFormat
import AnnalsLog
import AnnalsModel

extension StoreVersion {
  /// Where a log that replicas share has the transaction with this number; nil if that did not come
  /// from one, or is not in the file any more. Reads the block that has it.
  package func sharedLogPlace(of number: Int64) throws(AnnalsError) -> SharedLogPlace? {
    guard number > view.base, number <= head.number, view.gap(at: number) == nil else { return nil }
    return try AnnalsError.translating {
      var cursor = try view.history(after: number - 1, through: number)
      var batch = ChangeBatch()
      while try cursor.next(into: &batch) {
        for record in batch.transactions where record.number == number && record.part == 0 {
          return SharedLogPlace.place(of: record)
        }
      }
      return nil
    }
  }
}
