@_exported public import TailraceLists
@_exported public import TailraceMemos
@_exported public import TailraceSchedulers
@_exported public import TailraceSignals
@_exported public import TailraceTuples
