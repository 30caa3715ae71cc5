import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// Local time is what the C library reads of TZ. Each is a process of its own, since that reads the
/// variable once.
@Suite struct LocalTimeTests {
  /// What the command prints to standard output and standard error.
  private func run(_ zone: String, _ arguments: String...) throws -> (String, String) {
    let process = Process()
    process.executableURL = try built("annals")
    process.arguments = arguments
    var environment = ProcessInfo.processInfo.environment
    environment["TZ"] = zone
    process.environment = environment
    let (output, errors) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = (output, errors)
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let complaint = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (String(decoding: text, as: UTF8.self), String(decoding: complaint, as: UTF8.self))
  }

  /// Two transactions at noon UTC, in January and in July.
  private func store() throws -> (CommandFolder, String) {
    let folder = try CommandFolder()
    let lines = ["2019-01-15", "2019-07-15"].map {
      #"{"timestamp":"\#($0)T23:30:00Z","changes":[{"op":"insert","entity":"E","#
        + #""id":"\#($0)","set":{"d":{"$date":"\#($0)T23:30:00Z"}}}]}"#
    }
    try folder.write(lines.joined(separator: "\n"), to: "e.jsonl")
    #expect(folder.run("import", "@e.annals", "@e.jsonl").status == .done)
    return (folder, folder.file("e.annals"))
  }

  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/America/New_York")),
    arguments: [
      ("America/New_York", "-0500", "-0400"), (":America/New_York", "-0500", "-0400"),
      ("/usr/share/zoneinfo/America/New_York", "-0500", "-0400"),
      (":/usr/share/zoneinfo/America/New_York", "-0500", "-0400"), ("COPY", "-0500", "-0400"),
      ("JST-9", "+0900", "+0900"), ("UTC+3", "-0300", "-0300"), ("<+0330>-3:30", "+0330", "+0330"),
      ("EST5EDT,M3.2.0,M11.1.0", "-0500", "-0400"), ("UTC", "+0000", "+0000"),
      ("", "+0000", "+0000"),
    ])
  func zonesAsTheSystemReadsThem(zone: String, winter: String, summer: String) throws {
    let (folder, path) = try store()
    var zone = zone
    if zone == "COPY" {
      zone = folder.file("localtime")
      try FileManager.default.copyItem(
        atPath: "/usr/share/zoneinfo/America/New_York", toPath: zone)
    }
    let (log, errors) = try run(zone, "log", path, "--oneline", "--reverse")
    let lines = log.split(separator: "\n")
    #expect(errors == "" && lines.count == 2, "\(log)\(errors)")
    #expect(lines.first?.contains(" \(winter)  ") == true, "\(log)")
    #expect(lines.last?.contains(" \(summer)  ") == true, "\(log)")
    // The calendar's days are the zone's, too.
    let hour = (Int(summer) ?? 0) / 100
    let day = hour > 0 ? "2019-07-16" : "2019-07-15"
    let (groups, _) = try run(zone, "query", path, "E", "--group-by", "day:d", "--format", "csv")
    #expect(groups.contains(day), "\(groups)")
    // And a day that is typed.
    let (typed, _) = try run(zone, "log", path, "--since", day, "--until", day, "--oneline")
    #expect(typed.split(separator: "\n").count == 1, "\(typed)")
  }

  @Test(arguments: ["Mars/Olympus", ":Mars", "JST", "/etc/passwd", "+3"])
  func oneThatCannotBeReadIsToldOnce(zone: String) throws {
    let (folder, path) = try store()
    defer { withExtendedLifetime(folder) {} }
    let (log, errors) = try run(zone, "log", path, "--oneline")
    #expect(
      errors == "annals: warning: `\(zone)` is no time zone that this system has; UTC is used\n")
    #expect(log.components(separatedBy: "+0000  ").count - 1 == 2, "\(log)")
  }

  @Test func whatIsReadable() {
    for zone in ["EST5", "<-03>3", "UTC0", "GMT", ":", "CET-1CEST"] {
      #expect(LocalTime.unreadableZone(zone) == nil, "\(zone)")
    }
    for zone in ["AB5", "<X", "nowhere", "../../../etc"] {
      #expect(LocalTime.unreadableZone(zone) == zone, "\(zone)")
    }
  }
}
