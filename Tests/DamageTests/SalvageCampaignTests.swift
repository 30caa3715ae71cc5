import Annals
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
}
