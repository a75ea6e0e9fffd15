package cfg

// Functions of Go's runtime by which goroutines hand each other things. What comes
// from a channel is dealt out by it: whoever is free receives the next.

// receives are those by which one receives: they return whether there was anything,
// or in which of several ways there was.
var receives = map[string]bool{"runtime.chanrecv1": true, "runtime.chanrecv2": true, "runtime.selectgo": true, "runtime.selectnbrecv": true}

// Communicates reports whether a function of the runtime receives or sends.
func Communicates(name string) bool {
	return receives[name] || name == "runtime.chansend1" || name == "runtime.selectnbsend" || name == "runtime.closechan"
}
