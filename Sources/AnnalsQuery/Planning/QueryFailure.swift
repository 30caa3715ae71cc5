import AnnalsState

/// An error that a failure of a query may be.
package protocol QueryFailure: Error {
  init(_ failure: QueryPlan.Failure)
}

extension QueryPlan.Failure: QueryFailure {
  package init(_ failure: QueryPlan.Failure) { self = failure }
}

extension QueryFailure {
  /// Runs `body`, which reads a state.
  static func reading<T>(_ body: () throws(StateFault) -> T) throws(Self) -> T {
    do throws(StateFault) { return try body() } catch { throw Self(.evaluation(.state(error))) }
  }

  /// Runs `body`, which binds names to a schema.
  package static func binding<T>(_ body: () throws(ConditionError) -> T) throws(Self) -> T {
    do throws(ConditionError) { return try body() } catch { throw Self(.condition(error)) }
  }

  /// Runs `body`, which evaluates conditions, or reads values.
  package static func evaluating<T>(_ body: () throws(ConditionFault) -> T) throws(Self) -> T {
    do throws(ConditionFault) { return try body() } catch { throw Self(.evaluation(error)) }
  }
}
