package profile

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

const owner = `skewlens profile as text 1
# What a person writes.
program /bin/owner
run backend=native cores=4
coverage functions=1/1 instructions=7/7
function work 0x1000-0x1020 entry=work.0

block work.0 0x1000-0x1010 in=work last=0x100e instructions=4 count=work.0
block work.1 0x1010-0x1020 in=work last=0x101f instructions=3
edge work.0 work.1 fall site=0x100e count=f
edge - work.0 start
edge work.1 - exit
event work.0 block at=0x1000
event f edge at=0x100e
thread 1 start=0x1000
section barrier site=0x1018
  instance span=120ns
    part 1 begin=0x1000 site=0x1018 busy=100ns wait=20ns
      count f 2
      count work.0 15
location 0x1000 file=/src/owner.c line=28 function=work
  inlined-at file=/src/owner.c line=9 function=main
end
`

func TestText(t *testing.T) {
	p, err := ReadText(strings.NewReader(owner))
	if err != nil {
		t.Fatal(err)
	}
	part := p.Sections[0].Instances[0].Parts[0]
	if part.Counts.Of(0) != 15 || part.Counts.Of(1) != 2 || !part.Timed || p.Instructions(part.Counts) != 60 {
		t.Errorf("got %+v", part)
	}
	if p.Graph.Blocks[1].Count != NoEvent || p.Events[1].Edge != 0 || p.Graph.Functions[0].N != 2 {
		t.Errorf("got %+v", p.Graph)
	}
	var b bytes.Buffer
	if err := WriteText(&b, p); err != nil {
		t.Fatal(err)
	}
	if want := "edge work.0 work.1 fall site=0x100e count=work.0>work.1\n"; !strings.Contains(b.String(), want) {
		t.Errorf("want %sin\n%s", want, &b)
	}
}

func TestTextErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"skewlens profile as text 1", "skewlens profile as text 9", "update skewlens"},
		{"skewlens profile as text 1", "hello", "not a skewlens profile"},
		{"\nend\n", "\n", "cut"},
		{"\nend\n", "\nend\nmore\n", "after its end"},
		{"last=0x100e", "lst=0x100e", "line 8 (\"block\"): \"lst\"= does not belong here"},
		{"count=f", "count=g", `there is no event "g"`},
		{"count f 2", "count f 0", "count 0"},
		{"count f 2", "count f -2", "count:"},
		{"count f 2", "count work.0 2", "not after"},
		{"block work.1", "block work.0", "defined twice"},
		{"fall site", "fell site", `"fell" is none of fall`},
		{"part 1", "part 7", "thread 7 is not known"},
		{"span=120ns", "span=120", "want nanoseconds"},
		{"functions=1/1", "functions=1", "want two numbers"},
		{"0x1000-0x1010", "0x1000", "want addresses"},
		{"program /bin/owner", "program \"/bin/owner", "do not close"},
		{"program /bin/owner", "program /bin/owner x", `"x" does not belong here`},
		{"thread 1 start", "thread x start", "not a number"},
		{"wait=20ns", "wait=20ns wait=3ns", "given twice"},
		{"event work.0 block", "event work.0 hardware", "event 0 does not count"},
		{"program /bin/owner", "program", "a word is missing"},
	} {
		if !strings.Contains(owner, c.old) {
			t.Fatalf("%q is not in the text", c.old)
		}
		_, err := ReadText(strings.NewReader(strings.Replace(owner, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got error %v, want one line with %q", c.new, err, c.want)
		}
	}
}

func FuzzReadText(f *testing.F) {
	f.Add(owner)
	for seed := range uint64(20) {
		var b bytes.Buffer
		if err := WriteText(&b, randomProfile(rand.New(rand.NewPCG(seed, 1)))); err != nil {
			f.Fatal(err)
		}
		f.Add(b.String())
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ReadText(strings.NewReader(s))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("error of several lines: %v", err)
			}
			return
		}
		var text, file bytes.Buffer
		if err := WriteText(&text, p); err != nil {
			t.Fatal(err)
		}
		if q, err := ReadText(&text); err != nil || !reflect.DeepEqual(p, q) {
			t.Fatalf("does not come back: %v", err)
		}
		if err := Write(&file, p); err != nil {
			t.Fatal(err)
		}
		if q, err := Read(&file); err != nil || !reflect.DeepEqual(p, q) {
			t.Fatalf("does not come back from a file: %v", err)
		}
	})
}
