package cfg

import (
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// A project's own library may wrap the system's calls, to be the same everywhere or to
// see to errors: what such a function does is what the one call in it does, for whoever
// calls it, and it is there that a thread need not wait has been seen before.
//
//	int pl_wait(struct pl *x) { return pthread_cond_wait(&x->cond, &x->lock); }

// wrapperBytes is how long a function may be that does nothing but call another one.
const wrapperBytes = 160

// complains are those by which such a function says what has failed.
var complains = map[string]bool{"perror": true, "strerror": true, "fprintf": true, "__fprintf_chk": true, "fwrite": true, "fputs": true, "syslog": true, "__errno_location": true}

// findWrapped finds which of its imports the program has from libraries that wrap the
// calls by which threads wait for each other.
func (p *Program) findWrapped(among []*image.Image) {
	p.wrapped = map[string]string{}
	for _, x := range among {
		for i := range x.Funcs {
			f := &x.Funcs[i]
			if f.Size > wrapperBytes || !p.Image.Imports[f.Name] || !x.Exports[f.Name] || meetsBy(f.Name) {
				continue
			}
			if _, known := p.wrapped[f.Name]; !known {
				p.wrapped[f.Name] = wraps(x, f)
			}
		}
	}
}

// meaning is the name of what a library function does.
func (p *Program) meaning(name string) string {
	if of := p.wrapped[name]; of != "" {
		return of
	}
	return name
}

// meetsBy: threads wait, or let each other go on, by a library function.
func meetsBy(name string) bool {
	k, known := importOps[name]
	_, idle := idleOps[name]
	return idle || known && (k == opWait || k == opSync)
}

// wraps is the only call in a function, of those by which threads wait for each other; "" if
// there is none, or more is done. Calls that do not return are made where that has failed.
func wraps(x *image.Image, f *image.Func) (name string) {
	code := x.Bytes(f.Addr)
	if uint64(len(code)) < f.Size {
		return ""
	}
	var in x86.Insn
	for at := f.Addr; at < f.End(); at = in.End() {
		err := x86.DecodeTo(&in, code[at-f.Addr:f.Size], at)
		if err != nil || in.Lock || isSyscall(&in) || in.Stores && in.Mem.Base != x86.RSP && in.Mem.Base != x86.RBP {
			return ""
		}
		to := ""
		switch in.Kind {
		case x86.Call:
			to = x.PLT[in.Target]
		case x86.CallInd, x86.JmpInd:
			to = x.GOT[in.RIPTarget]
		case x86.Jmp, x86.Jcc, x86.Jrcxz:
			cold := x.FuncAt(in.Target)
			if in.Target >= f.Addr && in.Target < f.End() || cold != nil && cold.Cold {
				continue
			}
			to = x.PLT[in.Target]
		default:
			continue
		}
		switch {
		case noReturnName(to), complains[to]:
		case !meetsBy(to) || name != "":
			return ""
		default:
			name = to
		}
	}
	return name
}
