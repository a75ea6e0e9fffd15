package backend

// Backend counts what programs do.
type Backend interface {
	// Name is what the command line calls it: one lower-case word.
	Name() string

	// Check returns nil where the backend can count all of these events, else
	// one line: which of them it cannot count, why, and the fix.
	Check(events []Events) error

	// Run runs a program to its end, once Check has said nil. An error is one
	// line: what failed, on what, and the fix. An [Unavailable] one promises
	// that nothing of the program has run yet.
	Run(Job) (*Outcome, error)
}

// Events is a class of things that can be counted, as the command line calls it.
type Events string

const (
	Edges Events = "edges" // control flow: how often each block and each edge was executed
	Cache Events = "cache" // misses of caches, by level and kind
	// Hardware is what the kernel and the processor count of each thread: CPU time, page
	// faults, switches, cycles, as far as they do.
	Hardware Events = "hardware"
)

// Unavailable is the error of a backend that cannot profile this program, or
// anything on this system, while another one may. Its text is that of Err.
type Unavailable struct{ Err error }

func (u *Unavailable) Error() string { return u.Err.Error() }
func (u *Unavailable) Unwrap() error { return u.Err }
