// Stored lists are lists.
@_exported public import TailraceLists
