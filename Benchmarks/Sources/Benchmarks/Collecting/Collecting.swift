import Registering

let benchmarks: @Sendable () -> Void = { register(.collecting) }
