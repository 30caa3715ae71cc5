import Foundation

/// Whether tests that try cases or repeat random work try them all, rather than a part:
/// `Tools/test --long`.
package let isLong = ProcessInfo.processInfo.environment["ANNALS_LONG"] != nil

/// Whether tests run many times longer than usual: in their long forms, or under a sanitizer.
package let isSlow = isLong || isSanitized

/// Whether the tests run under a sanitizer: `Tools/test --sanitize`.
package let isSanitized = ProcessInfo.processInfo.environment["ANNALS_SANITIZER"] != nil
