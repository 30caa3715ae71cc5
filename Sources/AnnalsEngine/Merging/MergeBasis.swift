import AnnalsModel
import AnnalsState

/// What a write is merged from, and how.
package struct MergeBasis {
  /// The earlier state that the closure runs on.
  package var base: State
  package var policy: MergePolicy
  /// Whether `.error` refuses properties that both sides changed, and not objects: where a caller
  /// has named no policy.
  package var comparesProperties: Bool
  /// What was erased since. The base has it as erased, too, so that comparing states shows nothing.
  package var erased: [Erasure.Target]

  package init(base: State, policy: MergePolicy?, erased: [Erasure.Target]) {
    self.base = base
    self.policy = policy ?? .error
    comparesProperties = policy == nil
    self.erased = erased
  }
}
