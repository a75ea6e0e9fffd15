package x86

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// need finds a tool. Where the test is meant to run for sure, it must be there.
func need(t testing.TB, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is missing, and CI must have it", tool)
		}
		t.Skipf("%s is not installed", tool)
	}
	return path
}

// A listed is one instruction as objdump prints it.
type listed struct {
	addr     uint64
	code     []byte
	prefixes []string
	mnemonic string
	operands []string // AT&T order: the destination is last
	comment  uint64   // the address behind #, of a RIP-relative operand
	text     string
}

var prefixWords = map[string]bool{
	"bnd": true, "notrack": true, "rep": true, "repz": true, "repnz": true, "data16": true, "addr32": true, "lock": true,
	"xacquire": true, "xrelease": true, "cs": true, "ds": true, "es": true, "ss": true, "fs": true, "gs": true,
	"rex": true, "{vex}": true, "{evex}": true,
}

// parse reads a line of `objdump -d -w`. It reports false for lines that are no
// instruction, and for bytes that objdump can make nothing of.
func (l *listed) parse(line string) bool {
	a, rest, ok := strings.Cut(line, ":\t")
	if !ok {
		return false
	}
	addr, err := strconv.ParseUint(strings.TrimSpace(a), 16, 64)
	if err != nil {
		return false
	}
	bytes, text, ok := strings.Cut(rest, "\t")
	if !ok {
		return false
	}
	*l = listed{addr: addr, text: text, operands: l.operands[:0], prefixes: l.prefixes[:0], code: l.code[:0]}
	bytes = strings.TrimRight(bytes, " ")
	for i := 0; i+1 < len(bytes); i += 3 {
		var b [1]byte
		if _, err := hex.Decode(b[:], []byte(bytes[i:i+2])); err != nil {
			return false
		}
		l.code = append(l.code, b[0])
	}
	if i := strings.Index(text, " # "); i >= 0 {
		word, _, _ := strings.Cut(strings.TrimSpace(text[i+3:]), " ")
		l.comment, _ = strconv.ParseUint(strings.TrimPrefix(word, "0x"), 16, 64)
		text = text[:i]
	}
	text = strings.TrimSpace(text)
	for {
		word, after, _ := strings.Cut(text, " ")
		// A branch hint is a suffix of the mnemonic: jne,pn.
		word, _, _ = strings.Cut(word, ",")
		if prefixWords[word] || strings.HasPrefix(word, "rex.") {
			l.prefixes = append(l.prefixes, word)
			text = strings.TrimSpace(after)
			continue
		}
		l.mnemonic, text = word, strings.TrimSpace(after)
		break
	}
	if l.mnemonic == "" || l.mnemonic == "(bad)" || strings.HasPrefix(l.mnemonic, ".") || strings.Contains(l.mnemonic, "{ba") || strings.Contains(text, "bad}") || strings.Contains(text, "(bad)") {
		return false
	}
	if i := strings.IndexByte(text, '<'); i >= 0 { // a symbol
		text = strings.TrimSpace(text[:i])
	}
	depth, from := 0, 0
	for i := 0; i <= len(text); i++ {
		if i == len(text) || text[i] == ',' && depth == 0 {
			if o := strings.TrimSpace(text[from:i]); o != "" {
				l.operands = append(l.operands, o)
			}
			from = i + 1
			continue
		}
		switch text[i] {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		}
	}
	return true
}

// A tally is the outcome of a comparison.
type tally struct {
	t         testing.TB
	compared  int
	bad       int            // bytes that are no instruction to objdump
	refused   map[string]int // by mnemonic
	wrong     int
	shown     map[string]int
	mnemonics map[string]int
	only      bool                      // only instructions at multiples of 32
	examples  map[string]string         // of what was refused
	trial     func(l *listed, in *Insn) // further use of what was compared; may be nil
	intel     bool                      // the lines are in Intel's notation: sizes of operands are compared, and nothing else
}

func newTally(t testing.TB) *tally {
	return &tally{t: t, refused: map[string]int{}, mnemonics: map[string]int{}, examples: map[string]string{}, shown: map[string]int{}}
}

func (y *tally) errorf(l *listed, format string, args ...any) {
	y.wrong++
	kind := l.mnemonic + format // one example of each kind
	if y.shown[kind]++; y.shown[kind] == 1 && len(y.shown) <= 100 {
		y.t.Errorf("%x: % x  %s: %s", l.addr, l.code, l.text, fmt.Sprintf(format, args...))
	}
}

// multipleOf32 looks at the end of an address, before any parsing: of what
// objdump shows between the slots there is much.
func multipleOf32(addr []byte) bool {
	addr = bytes.TrimSuffix(addr, []byte(":"))
	n := len(addr)
	return n > 1 && addr[n-1] == '0' && strings.IndexByte(" 02468ace", addr[n-2]) >= 0
}

// listing runs objdump and compares each line, up to limit lines if that is not 0.
func (y *tally) listing(limit int, args ...string) error {
	if y.intel {
		args = append([]string{"-M", "intel"}, args...)
	}
	cmd := exec.Command("objdump", args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.Stderr = io.Discard
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	stopped := false
	s := bufio.NewScanner(out)
	s.Buffer(make([]byte, 1<<16), 1<<22)
	var l listed
	for s.Scan() {
		if limit > 0 && y.compared >= limit {
			stopped = true
			cmd.Process.Kill()
			break
		}
		line := s.Bytes()
		tab := bytes.IndexByte(line, '\t')
		if tab < 0 || y.only && !multipleOf32(line[:tab]) {
			continue
		}
		switch {
		case !l.parse(string(line)):
			y.bad++
		case y.intel:
			y.sizes(&l)
		default:
			y.compare(&l)
		}
	}
	err = cmd.Wait()
	if stopped {
		err = nil
	}
	return err
}

// compare decodes one listed instruction and looks for differences.
func (y *tally) compare(l *listed) {
	y.compared++
	y.mnemonics[l.mnemonic]++
	in, err := Decode(l.code, l.addr)
	if err != nil {
		if y.only && err == ErrPrefix {
			return // made-up combinations of prefixes; in real code none is refused
		}
		y.refused[l.mnemonic]++
		y.examples[l.mnemonic] = fmt.Sprintf("% x %s", l.code, l.text)
		return
	}
	if n := in.Len(); in.Map == 0 && in.Opcode == 0x9b && n < len(l.code) {
		// objdump shows fwait and the fn… behind it as one instruction.
		l.code = l.code[n:]
		if n > 1 { // … with the prefixes of fwait
			return
		}
		if in, err = Decode(l.code, l.addr+uint64(n)); err != nil {
			y.errorf(l, "behind fwait: %v", err)
			return
		}
	}
	if in.Len() != len(l.code) {
		y.errorf(l, "length %d, want %d", in.Len(), len(l.code))
		return
	}
	y.control(l, &in)
	y.operands(l, &in)
	y.flags(l, &in)
	if y.trial != nil {
		y.trial(l, &in)
	}
}

// control compares where control goes, and RIP-relative targets.
func (y *tally) control(l *listed, in *Insn) {
	if in.RIPOff != 0 != strings.Contains(l.text, "(%rip)") || in.RIPTarget != l.comment {
		y.errorf(l, "RIP target %#x, want %#x", in.RIPTarget, l.comment)
	}
	indirect := len(l.operands) > 0 && strings.HasPrefix(l.operands[0], "*")
	m := strings.TrimSuffix(l.mnemonic, "q")
	want := Normal
	switch {
	case m == "jmp" && indirect:
		want = JmpInd
	case m == "jmp":
		want = Jmp
	case m == "call" && indirect:
		want = CallInd
	case m == "call":
		want = Call
	case m == "ret":
		want = Ret
	case m == "jrcxz", m == "loop", m == "loope", m == "loopne":
		want = Jrcxz
	case m[0] == 'j':
		want = Jcc
	case m == "ud2", m == "ud1", m == "ud0", m == "hlt", m == "int3", m == "int", m == "int1":
		want = Stop
	}
	if in.Kind != want {
		y.errorf(l, "kind %d, want %d", in.Kind, want)
	}
	switch want {
	case Jmp, Jcc, Jrcxz, Call:
		target, err := strconv.ParseUint(strings.TrimPrefix(l.operands[0], "0x"), 16, 64)
		if err != nil || in.Target != target {
			y.errorf(l, "target %#x, want %s", in.Target, l.operands[0])
		}
		if n := in.Len() - int(in.RelOff); n != 1 && n != 4 {
			y.errorf(l, "displacement of %d bytes", n)
		}
	default:
		if in.Target != 0 || in.RelOff != 0 {
			y.errorf(l, "target %#x, but it is no direct branch", in.Target)
		}
	}
}
