// Its properties and methods give lists.
@_exported public import TailraceLists
