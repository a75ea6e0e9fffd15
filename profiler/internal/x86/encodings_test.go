package x86

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEncodings compares the decoder with objdump on made-up code: every opcode
// of every map, with the prefixes that matter and operands of all forms. What
// objdump decodes must come out the same or be refused, and what is refused is
// on a list.
func TestEncodings(t *testing.T) {
	need(t, "objdump")
	y := newTally(t)
	dir := t.TempDir()
	for _, family := range encodings() {
		before := y.compared
		y.slots(dir, family.codes)
		t.Logf("%s: %d encodings, %d of them instructions", family.name, len(family.codes), y.compared-before)
	}
	y.report()
	t.Logf("refused %s", y.refusals())
	complain := t.Errorf
	if newer(t) {
		complain = t.Logf
	}
	for m, n := range y.refused {
		if !mayRefuse(m) {
			complain("refuses %d forms of %s: %s", n, m, y.examples[m])
		}
	}
}

// newer reports whether this objdump is later than the lists below: it may know
// instructions that neither they nor the decoder do, and refusing those is right.
func newer(t *testing.T) bool {
	out, err := exec.Command("objdump", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	words := strings.Fields(line)
	var major, minor int
	if _, err := fmt.Sscanf(words[len(words)-1], "%d.%d", &major, &minor); err != nil {
		t.Fatalf("objdump's version in %q: %v", line, err)
	}
	return major > 2 || minor > 40
}

// slots compares instructions laid out at multiples of 32, filled up with nops
// so that objdump finds the next.
func (y *tally) slots(dir string, codes [][]byte) {
	y.t.Helper()
	var image bytes.Buffer
	for _, code := range codes {
		image.Write(code)
		image.Write(bytes.Repeat([]byte{0x90}, 32-len(code)))
	}
	file := filepath.Join(dir, "code")
	if err := os.WriteFile(file, image.Bytes(), 0o600); err != nil {
		y.t.Fatal(err)
	}
	y.only = true
	if err := y.listing(0, "-D", "-w", "-z", "-b", "binary", "-m", "i386:x86-64", file); err != nil {
		y.t.Fatal(err)
	}
}

// TestRandomCode does the same with random bytes behind random prefixes, the
// same ones each time.
func TestRandomCode(t *testing.T) {
	need(t, "objdump")
	random := rand.New(rand.NewPCG(1, 2))
	prefixes := []byte{0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x3e, 0x64, 0x65, 0x48, 0x41, 0x44, 0x4f, 0x40}
	starts := [][]byte{nil, nil, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}, {0xc5}, {0xc4}, {0x62}}
	var codes [][]byte
	for range 200_000 {
		var code []byte
		for range random.IntN(4) {
			code = append(code, prefixes[random.IntN(len(prefixes))])
		}
		code = append(code, starts[random.IntN(len(starts))]...)
		for len(code) < 16 {
			code = append(code, byte(random.Uint32()))
		}
		codes = append(codes, code)
	}
	y := newTally(t)
	y.slots(t.TempDir(), codes)
	y.report()
}

type family struct {
	name  string
	codes [][]byte
}

// operandBytes are ModRM and what follows it: each form of memory operand with
// each value of ModRM.reg, and a register.
func operandBytes() (out [][]byte) {
	for reg := byte(0); reg < 64; reg += 8 {
		for rm := range byte(8) {
			out = append(out, []byte{0xc0 | reg | rm})
		}
		out = append(out,
			[]byte{0x03 | reg}, []byte{0x04 | reg, 0x4a}, []byte{0x04 | reg, 0xa5, 1, 2, 3, 4}, []byte{0x05 | reg, 1, 2, 3, 4},
			[]byte{0x45 | reg, 0x80}, []byte{0x44 | reg, 0x24, 7}, []byte{0x86 | reg, 1, 2, 3, 0x84}, []byte{0x84 | reg, 0xdd, 1, 2, 3, 4})
	}
	return out
}

func encodings() (out []family) {
	operands := operandBytes()
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	prefixes := [][]byte{
		{}, {0x66}, {0xf2}, {0xf3}, {0x48}, {0x66, 0x48}, {0xf2, 0x48}, {0xf3, 0x48}, {0x4f}, {0x41}, {0x44}, {0x42},
		{0x67}, {0xf0}, {0x64}, {0x65}, {0x2e}, {0x3e}, {0x66, 0xf2}, {0x66, 0xf3}, {0x67, 0x41}, {0xf0, 0x48}, {0x40},
	}
	for i0, m := range []struct {
		name   string
		escape []byte
	}{{"one-byte", nil}, {"0f", []byte{0x0f}}, {"0f 38", []byte{0x0f, 0x38}}, {"0f 3a", []byte{0x0f, 0x3a}}} {
		f := family{name: m.name}
		for _, p := range prefixes {
			for c := range 256 {
				if m.escape == nil && (c == 0x62 || c == 0xc4 || c == 0xc5 || c == 0xd5 || c&0xf0 == 0x40 || prefixByte[c]) {
					continue
				}
				for i, o := range operands {
					// Of opcodes that are not known a few forms show whether objdump
					// knows them.
					if m.escape != nil && !known(i0, c) && i%11 != 0 {
						continue
					}
					// The x87 and group opcodes differ by all of ModRM; elsewhere a
					// part of the forms will do, a different one for each opcode.
					if (i+c)%4 != 0 && !(m.escape == nil && isGroup[c]) && !(c == 0x01 || c == 0xae || c == 0xc7 || c == 0xba) {
						continue
					}
					f.codes = append(f.codes, join(p, m.escape, []byte{byte(c)}, o, []byte{0x11, 0x22, 0x33, 0x14, 0x15, 0x16, 0x17, 0x18}))
				}
			}
		}
		out = append(out, f)
	}
	vex, evex := family{name: "VEX"}, family{name: "EVEX"}
	for m := byte(1); m <= 6; m++ {
		for c := range 256 {
			for p := range byte(4) {
				for i, o := range operands {
					for v := range byte(8) { // W, L, and register extensions
						w, l := v&1<<7, v>>1&1<<2
						rxb := []byte{0xe0, 0x40, 0xa0, 0xc0}[i&3]
						vvvv := []byte{0x78, 0x50, 0x08, 0x78}[v>>1]
						imm := []byte{5, 0, 0, 0}
						sparse := func(known bool, n int) bool {
							if !known {
								n *= 11
							}
							return (i+c+int(v))%n == 0
						}
						if m <= 3 && sparse(index[mapVex1+int(m)-1][p][c] != 0, 13) {
							vex.codes = append(vex.codes, join([]byte{0xc4, rxb | m, w | vvvv | l | p, byte(c)}, o, imm))
							vex.codes = append(vex.codes, join([]byte{0xc4, rxb | m, w | 0x78 | l | p, byte(c)}, o, imm))
							if m == 1 {
								vex.codes = append(vex.codes, join([]byte{0xc5, rxb&0x80 | vvvv | l | p, byte(c)}, o, imm))
							}
						}
						if m == 4 || !sparse(index[evexMap(m)][p][c] != 0, 7) {
							continue
						}
						for _, p2 := range []byte{0x08, 0x09, 0x29, 0x48, 0x18, 0x58, 0xcf} {
							if (i+int(p2)+c)%3 == 0 {
								evex.codes = append(evex.codes, join([]byte{0x62, rxb | 0x10 | m, w | 0x7c | p, p2, byte(c)}, o, imm))
							}
						}
					}
				}
			}
		}
	}
	return append(out, vex, evex)
}

// isGroup marks the one-byte opcodes that ModRM completes.
var isGroup = map[int]bool{
	0x80: true, 0x81: true, 0x83: true, 0x8f: true, 0xc0: true, 0xc1: true, 0xc6: true, 0xc7: true, 0xd0: true, 0xd1: true, 0xd2: true, 0xd3: true,
	0xd8: true, 0xd9: true, 0xda: true, 0xdb: true, 0xdc: true, 0xdd: true, 0xde: true, 0xdf: true, 0xf6: true, 0xf7: true, 0xfe: true, 0xff: true,
}

// known reports whether an opcode has a meaning with some mandatory prefix.
func known(m, c int) bool {
	return m < nMaps && index[m][0][c]|index[m][1][c]|index[m][2][c]|index[m][3][c] != 0
}

func evexMap(m byte) int {
	if m >= 5 {
		return mapEvex5 + int(m) - 5
	}
	return mapEvex1 + int(m) - 1
}

var prefixByte = map[int]bool{0x26: true, 0x2e: true, 0x36: true, 0x3e: true, 0x64: true, 0x65: true, 0x66: true, 0x67: true, 0xf0: true, 0xf2: true, 0xf3: true}

// mayRefuse lists what is refused on purpose.
func mayRefuse(m string) bool {
	return refusedOnPurpose[m] || refusedPrefixes[m] || strings.HasPrefix(m, "fn") && strings.Contains(m, "(") || strings.HasPrefix(m, "frstpm")
}

var refusedOnPurpose = words(`
	in insb insw insl out outsb outsw outsl cli sti iret iretw iretq lret lretw lretq lcall lcallw ljmp ljmpw
	clts invd wbinvd wbnoinvd getsec rdmsr wrmsr wrmsrns rdmsrlist wrmsrlist rsm sysenter sysexitl sysexitq sysretl sysretq swapgs
	lgdt lidt lldt lmsw ltr sgdt sidt sldt smsw str lfs lgs lss mov pop popw rdgsbase wrgsbase
	invept invlpg invlpga invlpgb invpcid invvpid tlbsync monitor monitorx mwait mwaitx umonitor hreset pconfig
	clgi stgi skinit psmash pvalidate rmpadjust rmpquery rmpupdate seamcall seamops seamret tdcall encls enclu enclv
	vmcall vmfunc vmgexit vmlaunch vmmcall vmread vmwrite vmresume vmrun vmsave vmload vmxoff vmxon vmclear vmptrld vmptrst
	clac stac clui stui testui uiret senduipi clrssbsy setssbsy rstorssp saveprevssp wrssd wrssq wrussd wrussq
	xabort xbegin xbeginw xend xresldtrk xsusldtrk xrstors xrstors64 xsaves xsaves64 xsetbv mcommit rdpru
	aadd aand aor axor enqcmd enqcmds loadiwkey encodekey128 encodekey256 xsha1 xsha256 xstore-rng xcrypt-cbc xcrypt-cfb xcrypt-ctr xcrypt-ecb xcrypt-ofb montmul
	aesdec128kl aesdec256kl aesdecwide128kl aesdecwide256kl aesenc128kl aesenc256kl aesencwide128kl aesencwide256kl
	cmpbexadd cmpbxadd cmplexadd cmplxadd cmpnbexadd cmpnbxadd cmpnlexadd cmpnlxadd cmpnoxadd cmpnpxadd cmpnsxadd cmpnzxadd cmpoxadd cmppxadd cmpsxadd cmpzxadd
	ldtilecfg sttilecfg tileloadd tileloaddt1 tilestored tilezero tilerelease tdpbf16ps tdpbssd tdpbsud tdpbusd tdpbuud tdpfp16ps
	femms extrq insertq movntsd movntss vpermil2pd vpermil2ps
	vgatherpf0dps vgatherpf0dpd vgatherpf0qps vgatherpf0qpd vgatherpf1dps vgatherpf1dpd vgatherpf1qps vgatherpf1qpd
	vscatterpf0dps vscatterpf0dpd vscatterpf0qps vscatterpf0qpd vscatterpf1dps vscatterpf1dpd vscatterpf1qps vscatterpf1qpd`)

// refusedPrefixes have, in what is refused of them, a mandatory prefix that
// makes them no instruction; objdump shows it as if it meant nothing.
var refusedPrefixes = words(`
	fxsave fxsave64 fxrstor fxrstor64 ldmxcsr stmxcsr vldmxcsr vstmxcsr xsavec xsavec64 sfence pmovmskb vzeroall vzeroupper
	vpmovb2m vpmovw2m vpmovd2m vpmovq2m vdbpsadbw vrsqrt14ps vrsqrt14pd vpshldw vpshrdw vmovntdq
	vpdpbuud vpdpbuuds vpdpbssd vpdpbssds vpdpbsud vpdpbsuds`)
