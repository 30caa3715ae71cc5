import AnnalsModel
import AnnalsState

/// What a write is merged from, and how.
package struct MergeBasis {
  /// The earlier state that the closure runs on.
  package var base: State
  package var policy: MergePolicy
  /// What was erased since. The base has it as erased, too, so that comparing states shows nothing.
  package var erased: [Erasure.Target]

  package init(base: State, policy: MergePolicy, erased: [Erasure.Target]) {
    self.base = base
    self.policy = policy
    self.erased = erased
  }
}
