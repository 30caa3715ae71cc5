import AnnalsState

/// What keeps a timeline from being made.
package enum TimelineFailure: Error, Sendable {
  /// A property does not suit.
  case condition(ConditionError)
  /// An object could not be read.
  case evaluation(ConditionFault)
}
