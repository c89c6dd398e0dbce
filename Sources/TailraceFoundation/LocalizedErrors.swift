@_exported public import TailraceLists
public import Foundation

// `localizedDescription` belongs to Foundation, which TailraceLists does not import: so its errors get
// their words here. They are found at run time, in every program that links this module.

extension CyclicEvaluationError: LocalizedError {
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
