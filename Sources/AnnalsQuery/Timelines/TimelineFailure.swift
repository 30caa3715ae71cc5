import AnnalsState

/// Why a timeline cannot be made.
package enum TimelineFailure: Error, Sendable {
  /// A property is of an unsuitable type.
  case condition(ConditionError)
  /// An object could not be read.
  case evaluation(ConditionFault)
}
