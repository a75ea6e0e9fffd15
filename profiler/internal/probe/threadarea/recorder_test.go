package threadarea

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/proctest"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// TestRecorderIsItsSource assembles recorder.S and look.S again.
func TestRecorderIsItsSource(t *testing.T) {
	proctest.Need(t, "as", "objcopy")
	dir := t.TempDir()
	for name, have := range map[string][]byte{"recorder": recorder, "look": look} {
		o, bin := filepath.Join(dir, name+".o"), filepath.Join(dir, name+".bin")
		for _, c := range [][]string{{"as", "-o", o, name + ".S"}, {"objcopy", "-O", "binary", "-j", ".text", o, bin}} {
			if msg, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", c, msg)
			}
		}
		b, err := os.ReadFile(bin)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, have) {
			t.Errorf("%s.bin is not %s.S assembled: go generate", name, name)
		}
	}
}

// TestOffsetsAgree compares recorder.S's offsets with layout.go's.
func TestOffsetsAgree(t *testing.T) {
	src, err := os.ReadFile("recorder.S")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"MUTED": offMuted, "RING": offRing, "LIMIT": OffLimit, "BUSY": offBusy, "LASTTSC": offLastTSC, "CPUGAP": offCPUGap,
		"COUNTERS": offCounters, "SHADOW": offShadow, "NFIXED": offNFixed, "NOVER": offNOver, "OVERCAP": offOverCap, "OVER": offOver,
		"TARGETS": offTargets, "SITECTR": offSiteCtr, "HASH": offHash, "KEYS": offKeys, "LOST": offLost, "WAITS": offWaits, "TOP": offTop,
		"LIVE": offLive, "NLIVE": offNLive, "ENTERED": offEntered, "RANGES": offRanges, "GUARD": offGuard, "ASK": offAsk, "ASKED": offAsked, "FUEL": OffFuel,
		"RUNTIME": offRuntime, "RESUMED": offResumed, "STINTS": offStints, "RAN": offRan, "RATE": offRate, "SCANNED": offScanned, "TABLE": offTable, "WORTHS": offWorths, "CACHES": OffCaches, "QUIET": OffQuiet, "CHANGED": offChanged, "CHANGEDAT": offChangedAt}
	found := 0
	for _, m := range regexp.MustCompile(`\.set (\w+),\s*(0x[0-9a-f]+)`).FindAllStringSubmatch(string(src), -1) {
		v, _ := strconv.ParseInt(m[2], 0, 64)
		if w, ok := want[m[1]]; !ok || w != v {
			t.Errorf("%s is %#x in recorder.S, %#x in layout.go", m[1], v, w)
		}
		found++
	}
	if found != len(want) {
		t.Errorf("%d offsets in recorder.S, %d in layout.go", found, len(want))
	}
	// What is said a second time, here or in the code that uses the areas.
	for name, v := range map[string]int64{"DONE": cachesDone, "TELLS": cachesTold, "HASHSIZE": hashSize, "WINDOW": hashWindow, "FACTOR": HashFactor, "SHIFT": HashShift, "STEP": hashStep, "SLOTS": waitSlots, "HUSHED": hushed, "HUSHES": hushes, "HEARD": heard,
		"POOL": offPool, "SELF": offSelf, "STATE": offState, "TID": offTid, "BORN": offBorn, "ENDED": offEnded, "CPU": offCPU, "PARENT": offParent,
		"LONG": offLong, "PLACES": PoolSize, "GOID": offGoid, "GOPC": offGopc, "GOSTART": offStart, "GOER": offGoer, "MADE": offMade, "SENT": offSent, "MADEBY": offMadeBy, "STOPPED": offStopped, "WOKEN": offWoken, "PARKED": offParked, "UNTOLD": offUntold, "SENDS": sends,
		"WHOLE": stackWords, "MINE": offMine, "BASE": offBase, "OWN": offOwn, "ENTRY": offEntry, "CLOCK": entryClock, "ACTIVE": entryActive, "LOOKS": entryLooks, "SLEPT": entrySlept, "QUANTUM": clockQuantum, "BOUND": clockBound, "ENTERS": clockEnters} {
		want[name] = v
	}
	said := map[string]bool{}
	for _, file := range []string{"recorder.S", "../blocking/guard.S", "../blocking/gate.S", "../blocking/door.S", "../blocking/timer.S", "../blocking/stub.S", "../../goroutine/switch.S"} {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\.set (\w+),\s*(-?\w+)`).FindAllStringSubmatch(string(src), -1) {
			v, err := strconv.ParseInt(m[2], 0, 64)
			if w, ok := want[m[1]]; ok && (err != nil || v != w) {
				t.Errorf("%s is %s in %s, %#x in Go", m[1], m[2], file, w)
			}
			said[m[1]] = true
		}
	}
	for name := range want {
		if !said[name] {
			t.Errorf("%s is in no file", name)
		}
	}
	if Recorder[RecordEnd] != 0xc3 || Recorder[RecordEnd+1] != 0xcc || !bytes.HasPrefix(Recorder[RecordBody:], []byte{0x65, 0x48, 0x83, 0x3c, 0x25}) {
		t.Error("record does not begin at RecordBody (a comparison with MUTED), or does not end at RecordEnd (ret, and behind it int3)")
	}
	told := RecorderOf(0, 8)
	Telling(told)
	if in, err := x86.Decode(Recorder[bytes.Index(Recorder, []byte{0x83, 0x3d}):], uint64(bytes.Index(Recorder, []byte{0x83, 0x3d}))); err != nil || in.RIPTarget != tellingAt || told[tellingAt] != 1 || Recorder[tellingAt] != 0 {
		t.Errorf("record asks at %#x whether accesses are told, not at %#x (%v)", in.RIPTarget, tellingAt, err)
	}
	for off, what := range map[int]string{RecordEntry: "record", IndirectEntry: "indirect", EnterEntry: "enter"} {
		in, err := x86.Decode(Recorder[off:], uint64(off))
		if err != nil || in.Kind != x86.Jmp {
			t.Errorf("no jump to %s at %d of the recorder", what, off)
		}
	}
}

// TestBridges: of what returns into the code that teams begin by, each call is one that
// is told of, and nothing else is.
func TestBridges(t *testing.T) {
	found := 0
	for at := range uint64(len(recorder)) {
		b, ok := BridgeAt(at)
		if !ok {
			continue
		}
		found++
		if call := recorder[at-3 : at]; call[0] != 0x41 && call[1] != 0xff { // call *%r10, *%r11, *%rax
			t.Errorf("at %#x returns no call through a register: % x", at, call)
		}
		if b.Above <= 0 {
			t.Errorf("at %#x: %+v", at, b)
		}
	}
	if found != 7 {
		t.Errorf("%d bridges, want 7", found)
	}
	for _, entry := range []uint64{GompFork, GompReduce, KmpcFork, KmpcDecide} {
		if recorder[entry] != 0xe9 {
			t.Errorf("at %#x is no jump", entry)
		}
	}
}
