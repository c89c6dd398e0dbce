public import Foundation

extension ListStoreError: LocalizedError {
  /// The error's description, with the remedy.
  public var errorDescription: String? { description }
}

extension CodingSizeError: LocalizedError {
  /// The error's description.
  public var errorDescription: String? { description }
}

extension RemoteListError: LocalizedError {
  /// The error's description, with the remedy.
  public var errorDescription: String? { description }
}

extension ClientStalledError: LocalizedError {
  /// The error's description.
  public var errorDescription: String? { description }
}

extension TooManyListsError: LocalizedError {
  /// The error's description, with the remedy.
  public var errorDescription: String? { description }
}
