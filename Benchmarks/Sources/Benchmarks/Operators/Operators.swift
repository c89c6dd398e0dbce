import Registering

let benchmarks: @Sendable () -> Void = { register(.operators) }
