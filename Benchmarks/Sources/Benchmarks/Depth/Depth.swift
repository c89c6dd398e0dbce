import Registering

let benchmarks: @Sendable () -> Void = { register(.depth) }
