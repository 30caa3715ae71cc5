import Foundation

/// The files of the page, which are in the program.
public enum EmbeddedPage {
  /// The contents by name.
  public static var contents: [String: [UInt8]] {
    var result: [String: [UInt8]] = [:]
    for file in embeddedFiles {
      if let bytes = Data(base64Encoded: file.base64) { result[file.name] = [UInt8](bytes) }
    }
    return result
  }
}
