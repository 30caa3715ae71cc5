import Foundation

/// Whether tests that try cases or repeat random work try them all, rather than a part:
/// `Tools/test --long`.
package let isLong = ProcessInfo.processInfo.environment["ANNALS_LONG"] != nil
