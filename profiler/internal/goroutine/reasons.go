package goroutine

import (
	"debug/dwarf"
	"fmt"
)

// The runtime has a number for each reason to wait, which differ from one Go to the next.
// Their names do not.

// reason is one, and to which of a layout it belongs. There may be no such one.
type reason struct {
	name string
	of   *int64
	new  bool // not all of the versions have it
}

// readReasons reads the numbers of those that are a goroutine's own waits. What it waits for
// in Wait of a group, and for a lock, is recorded otherwise.
func (l *Layout) readReasons(data *dwarf.Data, info []byte) error {
	for _, r := range []reason{
		{"ChanReceive", &l.Conditions, false}, {"ChanSend", &l.Conditions, false}, {"Select", &l.Conditions, false}, {"SyncCondWait", &l.Conditions, false},
		{"SynctestChanReceive", &l.Conditions, true}, {"SynctestChanSend", &l.Conditions, true}, {"SynctestSelect", &l.Conditions, true},
		{"Sleep", &l.Sleeps, false}, {"IOWait", &l.Polls, false},
	} {
		n, known := constant(data, info, "runtime.waitReason"+r.name)
		if known && n >= 0 && n < reasons {
			*r.of |= 1 << n
		} else if !r.new {
			return fmt.Errorf("has a runtime without waitReason%s", r.name)
		}
	}
	return nil
}

// constant is the value of one.
func constant(data *dwarf.Data, info []byte, name string) (n int64, known bool) {
	for at := range named(info, name) {
		if e := entryAt(data, at, dwarf.TagConstant, name); e != nil {
			n, known = e.Val(dwarf.AttrConstValue).(int64)
			return n, known
		}
	}
	return 0, false
}
