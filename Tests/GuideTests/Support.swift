import Foundation

/// A path in the temporary folder at which nothing is.
func temporaryPath() throws -> String {
  FileManager.default.temporaryDirectory.appending(path: "guide-\(UUID().uuidString).annals").path
}
