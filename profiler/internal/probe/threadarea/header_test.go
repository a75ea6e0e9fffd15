package threadarea

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// TestHeaderIsShared: what code of ours keeps in the header of an area lies in it, and
// nowhere does a word of one file's lie where another has another one. Only who makes
// threads that nobody traces shares words, with clocks: no program has both.
func TestHeaderIsShared(t *testing.T) {
	programs := [][]string{{"recorder.S", "live.inc", "tasks.inc", "team.inc"}, {"look.S", "live.inc"}, {"../blocking/guard.S"}, {"../blocking/gate.S"},
		{"../blocking/door.S"}, {"../blocking/timer.S"}, {"../blocking/stub.S"}, {"../../goroutine/switch.S"}}
	type word struct {
		name, file string
		at         int64
	}
	var words []word
	for _, files := range programs {
		var src string
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			src += string(b)
		}
		value := map[string]int64{}
		for _, m := range regexp.MustCompile(`\.set (\w+),\s*(0x[0-9a-f]+|\d+)\b`).FindAllStringSubmatch(src, -1) {
			value[m[1]], _ = strconv.ParseInt(m[2], 0, 64)
		}
		for _, m := range regexp.MustCompile(`%gs:(\w+)`).FindAllStringSubmatch(src, -1) {
			at, ok := value[m[1]]
			if !ok {
				t.Fatalf("%s: what is %s?", files[0], m[1])
			}
			if at >= headerSize {
				t.Errorf("%s: %s lies behind the header", files[0], m[1])
			}
			if w := (word{m[1], files[0], at}); !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	births := []string{"MAKE", "BACK", "SAVER9", "SAVERDI", "NUMBER"}
	for i, a := range words {
		for _, b := range words[:i] {
			if a.at-b.at < 4 && b.at-a.at < 4 && a.name != b.name && slices.Contains(births, a.name) == slices.Contains(births, b.name) {
				t.Errorf("%s of %s and %s of %s lie at %#x", a.name, a.file, b.name, b.file, a.at)
			}
		}
	}
	for name, at := range map[string]int64{"OUTER": offOuter, "SEEN": offSeen, "EPOCH": offEpoch} { // of tasks.inc
		if !slices.Contains(words, word{name, "recorder.S", at}) {
			t.Errorf("%s lies elsewhere than at %#x", name, at)
		}
	}
	if len(words) < 80 {
		t.Errorf("%d words", len(words))
	}
}
