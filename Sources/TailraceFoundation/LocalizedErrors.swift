public import Foundation
public import TailraceLists
public import TailraceMemos
public import TailraceSignals
public import TailraceTuples

// `localizedDescription` belongs to Foundation, which these modules do not import: so their errors get
// their words here. They are found at run time, in every program that links this module.

extension CyclicEvaluationError: LocalizedError {
  /// The error's description.
  public var errorDescription: String? { description }
}

extension MissingValueError: LocalizedError {
  /// The error's description.
  public var errorDescription: String? { description }
}

extension SignalOverflow: LocalizedError {
  /// The error's description.
  public var errorDescription: String? { description }
}

extension TupleError: LocalizedError {
  /// The error's description.
  public var errorDescription: String? { description }
}

extension FileError: LocalizedError {
  /// The error's description.
  public var errorDescription: String? { description }
}

extension ElementTypeError: LocalizedError {
  /// The error's description.
  public var errorDescription: String? { description }
}

extension TimedOut: LocalizedError {
  /// The error's description.
  public var errorDescription: String? { description }
}
