public import Foundation
public import Tailrace

// `localizedDescription` belongs to Foundation, which the module Tailrace does not import: so its
// errors get their words here. They are found at run time, in every program that links this module.

extension CyclicEvaluationError: LocalizedError {
  /// The error's description.
  public var errorDescription: String? { description }
}

extension TupleError: LocalizedError {
  /// The error's description.
  public var errorDescription: String? { description }
}

extension SignalOverflow: LocalizedError {
  /// The error's description.
  public var errorDescription: String? { description }
}

extension MissingValueError: LocalizedError {
  /// The error's description.
  public var errorDescription: String? { description }
}

extension ListStoreError: LocalizedError {
  /// The error's description, with the remedy.
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

extension CodingSizeError: LocalizedError {
  /// The error's description.
  public var errorDescription: String? { description }
}
