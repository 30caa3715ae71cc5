import AnnalsModel
import Foundation

// The types whose values are ordered.

extension Int: OrderedValue {}
extension Int8: OrderedValue {}
extension Int16: OrderedValue {}
extension Int32: OrderedValue {}
extension Int64: OrderedValue {}
extension UInt8: OrderedValue {}
extension UInt16: OrderedValue {}
extension UInt32: OrderedValue {}
extension Double: OrderedValue {}
extension Float: OrderedValue {}
extension String: OrderedValue {}
extension Date: OrderedValue {}
extension Decimal: OrderedValue {}
extension CalendarDay: OrderedValue {}
extension Value: OrderedValue {}
