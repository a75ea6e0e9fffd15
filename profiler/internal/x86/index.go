package x86

// The opcode maps, in the order of index. The legacy ones are numbered as
// Insn.Map is; VEX and EVEX maps follow.
const (
	mapOne = iota
	map0F
	map0F38
	map0F3A
	mapVex1
	mapVex2
	mapVex3
	mapEvex1
	mapEvex2
	mapEvex3
	mapEvex5
	mapEvex6
	nMaps
)

// ops holds the distinct ops, index says which an opcode of a map with a
// mandatory prefix is; 0 is none. The rules above are what is written and
// read by people; this is what Decode reads: one load for the index, one for
// the op, and little of either in the cache.
var (
	ops   = make([]op, 1, 256)
	index [nMaps][4][256]uint8
)

func init() {
	known := map[op]uint8{}
	for m, rules := range [nMaps][]rule{
		append(aluRules(), oneByte...), twoByte, threeByte38, threeByte3A,
		vex1, vex2, vex3, evex1, evex2, evex3, evex5, evex6,
	} {
		for _, r := range rules {
			i, ok := known[r.op]
			if !ok {
				i = uint8(len(ops)) // TestIndexFits: fewer than 256
				known[r.op] = i
				ops = append(ops, r.op)
			}
			for p := range 4 {
				if r.pp>>p&1 == 0 {
					continue
				}
				for c := int(r.from); c <= int(r.to); c++ {
					index[m][p][c] = i
				}
			}
		}
	}
}
