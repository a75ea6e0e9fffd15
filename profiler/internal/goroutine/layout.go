package goroutine

import (
	"bytes"
	"debug/dwarf"
	"errors"
	"fmt"
	"iter"

	"github.com/skewlens/skewlens/profiler/internal/pack"
)

// Layout is where things lie in the runtime's data: bytes from the beginning of a
// runtime.g, of a runtime.m, of a runtime.p, or of a runtime._panic.
type Layout struct {
	ID, Parent, Created, Start int64 // goid, parentGoid, gopc, startpc
	StackLow, StackHigh        int64
	SP, PC                     int64 // where it stands when it does not run
	Current, Processor         int64 // of a thread: the goroutine that it runs, and for which of Go's processors, a *runtime.p,
	Pending, Generation        int64 // whether a signal is on its way that asks the goroutine to leave, and how many came
	Turn, Number               int64 // of a processor: how many turns goroutines have had, and which it is
	Panic                      int64 // the innermost, a *runtime._panic
	PanicSP, PanicStart        int64
	PanicLink, PanicGoexit     int64
	Unled                      int64 // 1: it walks up stacks also where the detours for that are not come to
	Return, Frame              int64 // of a walk up a stack, a runtime.unwinder: where the frame returns to, and where it ends
	Reason                     int64 // why the goroutine waits,
	Conditions, Sleeps, Polls  int64 // bits: the numbers of reasons that are others, its time, or a file
}

// ErrNoDWARF: a program was linked without debug information.
var ErrNoDWARF = errors.New("has no debug information")

// ReadLayout reads it from a program's debug information; info is the section of that
// name.
func ReadLayout(data *dwarf.Data, info []byte) (l Layout, err error) {
	if len(info) == 0 {
		return l, ErrNoDWARF
	}
	g, err := find(data, info, "runtime.g")
	if err != nil {
		return l, err
	}
	m, err := find(data, info, "runtime.m")
	if err != nil {
		return l, err
	}
	processor, err := find(data, info, "runtime.p")
	if err != nil {
		return l, err
	}
	p, err := find(data, info, "runtime._panic")
	if err != nil {
		return l, err
	}
	u, err := find(data, info, "runtime.unwinder")
	if err != nil {
		return l, err
	}
	for _, x := range []field{
		{&l.ID, g, []string{"goid"}}, {&l.Parent, g, []string{"parentGoid"}}, {&l.Created, g, []string{"gopc"}}, {&l.Start, g, []string{"startpc"}},
		{&l.StackLow, g, []string{"stack", "lo"}}, {&l.StackHigh, g, []string{"stack", "hi"}},
		{&l.SP, g, []string{"sched", "sp"}}, {&l.PC, g, []string{"sched", "pc"}}, {&l.Reason, g, []string{"waitreason"}}, {&l.Panic, g, []string{"_panic"}},
		{&l.Current, m, []string{"curg"}}, {&l.Processor, m, []string{"p"}},
		{&l.Pending, m, []string{"signalPending"}}, {&l.Generation, m, []string{"preemptGen"}}, {&l.Turn, processor, []string{"schedtick"}}, {&l.Number, processor, []string{"id"}},
		{&l.PanicSP, p, []string{"sp"}}, {&l.PanicStart, p, []string{"startSP"}}, {&l.PanicLink, p, []string{"link"}}, {&l.PanicGoexit, p, []string{"goexit"}},
		{&l.Return, u, []string{"frame", "lr"}}, {&l.Frame, u, []string{"frame", "fp"}},
	} {
		if *x.to, err = offset(x.in, x.path); err != nil {
			return l, err
		}
	}
	if err := l.readReasons(data, info); err != nil {
		return l, err
	}
	return l, l.readInlined(data, info)
}

// field is one that is sought in a structure, or in a structure that is a field there.
type field struct {
	to   *int64
	in   *dwarf.StructType
	path []string
}

// numbers are all of a layout.
func (l *Layout) numbers() []*int64 {
	return []*int64{&l.ID, &l.Parent, &l.Created, &l.Start, &l.StackLow, &l.StackHigh, &l.SP, &l.PC, &l.Current, &l.Processor, &l.Pending, &l.Generation,
		&l.Turn, &l.Number, &l.Panic, &l.PanicSP, &l.PanicStart, &l.PanicLink, &l.PanicGoexit, &l.Unled, &l.Return, &l.Frame, &l.Reason, &l.Conditions, &l.Sleeps, &l.Polls}
}

// Pack writes a layout.
func (l *Layout) Pack(w *pack.Writer) {
	for _, n := range l.numbers() {
		w.Uint(uint64(*n))
	}
}

// UnpackLayout reads what Pack has written.
func UnpackLayout(r *pack.Reader) (l Layout, err error) {
	for _, n := range l.numbers() {
		*n = int64(r.Uint())
	}
	if r.Err == nil && len(r.B) > 0 {
		r.Err = pack.ErrShort
	}
	return l, r.Err
}

// find returns a structure of the runtime's.
func find(data *dwarf.Data, info []byte, name string) (*dwarf.StructType, error) {
	for at := range named(info, name) {
		if t := structAt(data, at, name); t != nil {
			return t, nil
		}
	}
	return nil, fmt.Errorf("has no %s in its debug information", name)
}

// named are where something of a name may be described. To go through all that a large
// program has would take a second: the name stands in what describes it, behind the number
// of an abbreviation.
func named(info []byte, name string) iter.Seq[dwarf.Offset] {
	want := append([]byte(name), 0)
	return func(yield func(dwarf.Offset) bool) {
		for at := 0; ; at++ {
			i := bytes.Index(info[at:], want)
			if i < 0 {
				return
			}
			at += i
			for n := 1; n <= 2 && n <= at; n++ {
				if !yield(dwarf.Offset(at - n)) {
					return
				}
			}
		}
	}
}

// structAt is the structure that is described at an offset, nil where none of that
// name is.
func structAt(data *dwarf.Data, at dwarf.Offset, name string) *dwarf.StructType {
	if entryAt(data, at, dwarf.TagStructType, name) == nil {
		return nil
	}
	t, err := data.Type(at)
	if err != nil {
		return nil
	}
	s, _ := t.(*dwarf.StructType)
	return s
}

// entryAt is what is described at an offset, nil where that is nothing of a kind and name.
func entryAt(data *dwarf.Data, at dwarf.Offset, kind dwarf.Tag, name string) *dwarf.Entry {
	r := data.Reader()
	r.Seek(at)
	if e, err := r.Next(); err == nil && e != nil && e.Tag == kind && e.Val(dwarf.AttrName) == name {
		return e
	}
	return nil
}

// offset is that of a field, or of a field's field.
func offset(s *dwarf.StructType, path []string) (int64, error) {
	for _, f := range s.Field {
		if f.Name != path[0] {
			continue
		}
		if len(path) == 1 {
			return f.ByteOffset, nil
		}
		t := f.Type
		if d, ok := t.(*dwarf.TypedefType); ok {
			t = d.Type
		}
		if inner, ok := t.(*dwarf.StructType); ok {
			n, err := offset(inner, path[1:])
			return f.ByteOffset + n, err
		}
	}
	return 0, fmt.Errorf("has a runtime without %s.%s", s.StructName, path[0])
}
