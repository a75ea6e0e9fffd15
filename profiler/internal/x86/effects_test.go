package x86

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEffectsExecuted runs instructions on this processor and tries each claim
// about registers, flags, and the size of the operand in memory:
// testdata/effects.c says how. What this processor does not have, and what
// cannot be repeated, is left out.
func TestEffectsExecuted(t *testing.T) {
	gcc := need(t, "gcc")
	program := filepath.Join(t.TempDir(), "effects")
	if out, err := exec.Command(gcc, "-O1", "-w", "-o", program, "testdata/effects.c").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	var input bytes.Buffer
	seen := map[string]bool{}
	for _, f := range encodings() {
		for i, code := range f.codes {
			if testing.Short() && i%8 != 0 {
				continue
			}
			in, err := Decode(code, 0x1000)
			if err != nil || seen[string(in.Bytes)] || !repeatable(&in) {
				continue
			}
			seen[string(in.Bytes)] = true
			fmt.Fprintf(&input, "%s %x %x %x %x %x %d %d %d %d\n", hex.EncodeToString(in.Bytes),
				in.Use, in.Def, in.Mem.Base.Set(), in.FlagsRead, in.FlagsKilled, bit(in.Loads), bit(in.Stores), in.Mem.Disp, operandSize(&in))
		}
	}
	cmd := exec.Command(program)
	cmd.Stdin = &input
	var out, figures bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &figures
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s%s", err, figures.String(), last(out.String()))
	}
	t.Log(strings.TrimSpace(figures.String()))
	shown := 0
	for line := range strings.Lines(out.String()) {
		if shown++; shown <= 60 {
			t.Errorf("%s", strings.TrimSpace(line))
		}
	}
	if shown > 60 {
		t.Errorf("… and %d more", shown-60)
	}
}

// operandSize is the size of the operand in memory; 0 if that is not known, or
// there are other accesses.
func operandSize(in *Insn) int {
	list, ok := in.Accesses(nil)
	if !ok || !in.HasMem || len(list) != 1 {
		return 0
	}
	return list[0].Size
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func last(s string) string { return s[max(0, len(s)-200):] }

// repeatable reports whether an instruction can be run alone and again with the
// same outcome: it goes on to the next, leaves the stack alone, addresses
// memory by one register and nowhere else, and does not ask for the time, chance or the
// processor's number, nor sets what the test itself stands on.
func repeatable(in *Insn) bool {
	if in.Kind != Normal || (in.Use|in.Def)&stack != 0 {
		return false
	}
	if in.HasMem && (in.Mem.Base == None || in.Mem.Index != None || in.Mem.Segment != 0 || in.Mem.Addr32 || in.Mem.Vector) {
		return false
	}
	if in.Map == 0 {
		return in.Opcode < 0xa0 || in.Opcode > 0xa3 // absolute addresses
	}
	if in.Map != 1 || in.Vex != 0 {
		return true
	}
	switch in.Opcode {
	case 0x01, 0x05, 0x31, 0x33, 0xa2:
		return false
	case 0xa3, 0xab, 0xb3, 0xbb: // bit tests: the register's bits lie beside the operand, in memory that others use
		return !in.HasMem
	case 0xae:
		return in.HasMem && in.Ext() < 4 || in.Ext() == 7 // not xsave, wrfsbase, umwait
	case 0xc7:
		return in.HasMem && in.Ext() == 1
	}
	return true
}
