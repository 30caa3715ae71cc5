import Annals
import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsTestSupport
import Foundation
import Testing

/// Random stores, damaged at random and salvaged: the new store verifies, its export leads to the
/// same state, what is said to be lost is what is damaged, and where nothing is, nothing is.
///
/// A few by default, thousands with `ANNALS_LONG`; `ANNALS_SALVAGE_ROUNDS` says how many, and
/// `ANNALS_DAMAGE_SEED` where they begin.
@Suite struct SalvageCampaignTests {
  private static let rounds =
    ProcessInfo.processInfo.environment["ANNALS_SALVAGE_ROUNDS"].flatMap { Int($0) }
    ?? (isLong ? 3_000 : 10)
  /// How often each store is damaged.
  private static let damages = 4

  @Test func whatIsLostIsSaid() throws {
    print("ANNALS_DAMAGE_SEED=\(damageSeed)")
    for round in 0..<UInt64(SalvageCampaignTests.rounds) {
      let seed = damageSeed &+ round
      let store = try RandomStore(seed: seed)
      let stranger = try RandomStore(seed: seed &+ 1 << 32)
      let lab = try SalvageLab(store.bytes)
      var random = SeededRandom(seed: ~seed)
      for _ in 0..<SalvageCampaignTests.damages {
        let other = random.chance(50) ? store.earlier : stranger.bytes
        let damage = RandomDamage(store.bytes, other: other, &random)
        guard damage.bytes != store.bytes else { continue }
        let what = "ANNALS_DAMAGE_SEED=\(seed):\(damage.text)"
        do {
          guard try lab.check(damage.bytes, what) != nil else { continue }
          try openForReading(Store.salvaged(damage.bytes)).expectSameImported(what)
        } catch {
          Issue.record("\(what): \(error)")
        }
      }
    }
  }

  /// The base is lost, and with it every definition. What a later one says of the types is used for
  /// the values before, so that its indexes fit them, and an export leads to the same store.
  @Test func aLaterDefinitionTellsTheTypes() throws {
    let bytes = try RandomStore(seed: 50).bytes
    for damage in stride(from: Int(FormatLimits.logStart), to: bytes.count - 4_096, by: 512) {
      var damaged = bytes
      for place in damage..<damage + 4_096 { damaged[place] = 0 }
      let salvaged = try openForReading(Store.salvaged(damaged))
      let first = salvaged.version.view.schemaHistory.first?.change.first { $0.number == 1 }
      guard let made = first?.definition, made.name == "lost entity 1",
        made.attribute(numbered: 3)?.type == .int64
      else { continue }
      #expect(salvaged.schema.entity(named: "Note")?.indexes.map(\.name) == ["both"])
      return try salvaged.expectSameImported("damage \(damage)")
    }
    Issue.record("nowhere is the base lost, and a later definition found")
  }

  /// A definition that is found leads to an entity whose own is lost: that is made up, too.
  @Test func whereARelationshipLeadsIsMadeUp() throws {
    var bytes = try RandomStore(seed: 65).bytes
    for (place, bit) in [(13_992, 3), (13_452, 3), (13_864, 5)] { bytes[place] ^= 1 << UInt8(bit) }
    let salvaged = try openForReading(Store.salvaged(bytes))
    for relationship in salvaged.schema.entities.flatMap(\.relationships) {
      #expect(salvaged.schema.entity(numbered: relationship.destination) != nil)
    }
    try salvaged.expectSameImported("")
  }
}
