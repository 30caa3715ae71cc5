import Testing

@testable import AnnalsCommand

/// Numbers for people, on both sides of each place where they change their unit.
@Suite struct NumeralsTests {
  @Test(
    arguments: [
      (-5, "0 s"), (0, "0 s"), (0.9, "0 s"), (1, "1 s"), (119, "119 s"), (119.9, "119 s"),
      (120, "2 min"), (179, "2 min"), (180, "3 min"), (7_199, "119 min"), (7_200, "2 h"),
      (10_799, "2 h"), (10_800, "3 h"), (172_799, "47 h"), (172_800, "2 d"), (259_199, "2 d"),
      (259_200, "3 d"), (86_400_000, "1,000 d"), (.infinity, "11,574,074,074 d"),
    ] as [(Double, String)])
  func lengths(_ seconds: Double, _ text: String) { #expect(Numerals.length(seconds) == text) }

  @Test(arguments: [
    (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1_000, "1.0 kB"), (1_049, "1.0 kB"),
    (1_050, "1.1 kB"), (999_949, "999.9 kB"), (999_999, "1,000.0 kB"), (1_000_000, "1.0 MB"),
    (999_999_999, "1,000.0 MB"), (1_000_000_000, "1.0 GB"), (12_345_000_000, "12.3 GB"),
  ])
  func sizes(_ bytes: Int, _ text: String) { #expect(Numerals.size(bytes) == text) }

  @Test(
    arguments: [
      (-1, "0:00"), (0, "0:00"), (59, "0:59"), (60, "1:00"), (3_599, "59:59"), (3_600, "1:00:00"),
      (359_999, "99:59:59"), (360_000, "99:59:59"),
    ] as [(Double, String)])
  func clocks(_ seconds: Double, _ text: String) { #expect(Numerals.clock(seconds) == text) }

  @Test(arguments: [
    (0, 7, "0.0%"), (1, 8, "12.5%"), (1, 1_000, "0.1%"), (4, 10_000, "0.0%"), (5, 10_000, "0.1%"),
    (7, 7, "100.0%"), (7, 0, "0.0%"), (3, 2, "150.0%"),
  ])
  func shares(_ part: Int, _ whole: Int, _ text: String) {
    #expect(Numerals.share(part, of: whole) == text)
  }
}
