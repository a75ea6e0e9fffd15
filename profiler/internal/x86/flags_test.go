package x86

import (
	"strings"
)

// flagEffects is what mnemonics read and set, by the manuals; a table of its
// own, so that a slip in the decoder's shows. Undefined is not set.
//
//	mnemonics : read : set
const flagEffects = `
add sub cmp neg cmpxchg xadd                     :       : oszapc
adc sbb                                          : c     : oszapc
and or xor test                                  :       : oszpc
inc dec                                          :       : oszap
mul imul                                         :       : oc
bt bts btr btc                                   :       : c
bsf bsr                                          :       : z
tzcnt lzcnt                                      :       : zc
popcnt                                           :       : oszapc
cmpxchg8b cmpxchg16b                             :       : z
comiss comisd ucomiss ucomisd                    :       : oszapc
vcomiss vcomisd vucomiss vucomisd vcomish vucomish : : oszapc
ptest vptest vtestps vtestpd                     :       : oszapc
pcmpestri pcmpestrm pcmpestriq pcmpestrmq pcmpistri pcmpistrm :       : oszapc
vpcmpestri vpcmpestrm vpcmpestriq vpcmpestrmq vpcmpistri vpcmpistrm      :       : oszapc
kortestb kortestw kortestd kortestq              :       : oszapc
ktestb ktestw ktestd ktestq                      :       : oszapc
rdrand rdseed xtest                              :       : oszapc
fcomi fcomip fucomi fucomip                      :       : zpc
fcmovb fcmovnb                                   : c     :
fcmove fcmovne                                   : z     :
fcmovbe fcmovnbe                                 : zc    :
fcmovu fcmovnu                                   : p     :
clc stc                                          :       : c
cmc                                              : c     : c
lahf                                             : szapc :
sahf                                             :       : szapc
pushf                                            : oszapc:
popf                                             :       : oszapc
andn blsi blsr blsmsk bzhi                       :       : oszc
bextr                                            :       : ozc
adcx                                             : c     : c
adox                                             : o     : o
verr verw lar lsl                                :       : z
loope loopne                                     : z     :
cmps scas                                        :       : oszapc
shl shr sar rol ror shld shrd                    :       : ?
rcl rcr                                          : c     : ?
`

type effect struct {
	read, set Flags
	depends   bool // on the count
}

func flagSet(s string) (f Flags) {
	for _, c := range s {
		switch c {
		case 'o':
			f |= OF
		case 's':
			f |= SF
		case 'z':
			f |= ZF
		case 'a':
			f |= AF
		case 'p':
			f |= PF
		case 'c':
			f |= CF
		}
	}
	return f
}

var effects = func() map[string]effect {
	out := map[string]effect{}
	for line := range strings.Lines(flagEffects) {
		part := strings.Split(line, ":")
		if len(part) != 3 {
			continue
		}
		e := effect{flagSet(part[1]), flagSet(part[2]), strings.Contains(part[2], "?")}
		for _, m := range strings.Fields(part[0]) {
			out[m] = e
		}
	}
	for _, cc := range []struct{ names, read string }{
		{"o no", "o"}, {"b ae c nc nae nb", "c"}, {"e ne z nz", "z"}, {"be a na nbe", "cz"},
		{"s ns", "s"}, {"p np pe po", "p"}, {"l ge nl nge", "so"}, {"le g ng nle", "zso"},
	} {
		for _, n := range strings.Fields(cc.names) {
			for _, stem := range []string{"j", "set", "cmov"} {
				out[stem+n] = effect{read: flagSet(cc.read)}
			}
		}
	}
	return out
}()

// flags compares flags read and killed with the table.
func (y *tally) flags(l *listed, in *Insn) {
	if in.Kind == Call || in.Kind == CallInd {
		return
	}
	e, ok := effects[l.mnemonic]
	if !ok {
		if m := l.mnemonic; strings.IndexByte("bwlq", m[len(m)-1]) >= 0 && !in.HasVector() {
			e = effects[m[:len(m)-1]]
		}
	}
	if l.mnemonic == "cmpsd" && !in.IsString() || l.mnemonic == "cmpss" {
		e = effect{}
	}
	if in.IsString() && in.Rep != 0 {
		e.set = 0
	}
	if in.FlagsRead != e.read {
		y.errorf(l, "reads flags %06b, want %06b", in.FlagsRead, e.read)
	}
	if in.FlagsKilled != e.set && !e.depends {
		y.errorf(l, "kills flags %06b, want %06b", in.FlagsKilled, e.set)
	}
	if e.depends { // on the count
		count := int64(-1)
		switch {
		case len(l.operands) == 1, in.Map == 0 && in.Opcode <= 0xd1 && in.Opcode >= 0xd0:
			count = 1
		case in.HasImm:
			count = in.Imm & 31
			if in.Rex&8 != 0 {
				count = in.Imm & 63
			}
		}
		if count <= 0 {
			e.set = 0
		} else if strings.HasPrefix(l.mnemonic, "ro") || strings.HasPrefix(l.mnemonic, "rc") {
			e.set = CF | OF
		} else {
			e.set = AllFlags &^ AF
		}
		if in.FlagsKilled&^e.set != 0 || count == 1 && in.FlagsKilled != e.set {
			y.errorf(l, "kills flags %06b, of %06b", in.FlagsKilled, e.set)
		}
	}
}

// HasVector tells vector mnemonics that look like general ones with a suffix.
func (in *Insn) HasVector() bool { return in.Vex != 0 && in.Map != 2 }
