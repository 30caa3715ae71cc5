import Annals
import Foundation
import Logging
import ServiceLifecycle

/// Owns the store: prunes old receipts now and then, and closes the file when the program ends.
struct StoreService: Service {
  let store: Store
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do {
          try await deleteReceipts(before: .now - 86_400)
        } catch {
          logger.error("receipts: \(error)")
        }
        try? await Task.sleep(for: .seconds(3_600))
      }
    }
    try store.close()
  }

  private func deleteReceipts(before date: Date) async throws {
    try await store.write(author: "server", context: "receipts") { tx in
      try tx.delete(Receipt.self, where: \.received < date)
    }
  }
}
