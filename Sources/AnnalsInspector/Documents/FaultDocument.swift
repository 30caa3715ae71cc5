/// Why a request is not answered.
package struct FaultDocument: Codable, Sendable, Hashable {
  package struct Fault: Codable, Sendable, Hashable {
    package var code: String
    package var message: String
    package var parameter: String?
    package var column: Int?
    package var remedy: String?
    package var offset: UInt64?
  }

  package var error: Fault
}
