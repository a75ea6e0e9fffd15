package profile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(1000) {
		p := randomProfile(rand.New(rand.NewPCG(seed, 1)))
		if err := p.CheckValid(); err != nil {
			t.Fatalf("seed %d: the generator is wrong: %v", seed, err)
		}
		var file, text, again bytes.Buffer
		if err := Write(&file, p); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := WriteText(&text, p); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		fromText, err := ReadText(bytes.NewReader(text.Bytes()))
		if err != nil || !reflect.DeepEqual(p, fromText) {
			t.Fatalf("seed %d: text: %v\n%s", seed, err, text.String())
		}
		fromFile, err := Read(bytes.NewReader(file.Bytes()))
		if err != nil || !reflect.DeepEqual(p, fromFile) {
			t.Fatalf("seed %d: file: %v\nwant %+v\ngot  %+v", seed, err, p, fromFile)
		}
		if err := Write(&again, fromText); err != nil || !bytes.Equal(again.Bytes(), file.Bytes()) {
			t.Fatalf("seed %d: bytes differ when written again (%v)", seed, err)
		}
	}
}

// TestManyRows crosses the bounds of chunks.
func TestManyRows(t *testing.T) {
	const n = 3*chunkRows + 5
	p := &Profile{}
	p.Graph.Functions = []Function{{Name: strings.Repeat("long", 1<<18), Entry: 0, End: 8 * n, N: n}}
	var c Counts
	for i := range n {
		a := Addr(8 * i)
		p.Graph.Blocks = append(p.Graph.Blocks, Block{Start: a, End: a + 8, Last: a, Instructions: 1, Count: EventID(i)})
		p.Events = append(p.Events, Event{Kind: BlockEntered, Block: BlockID(i), Addr: a, Superior: NoEvent})
		c.Event, c.N = append(c.Event, EventID(i)), append(c.N, math.MaxUint64)
	}
	s := Section{Kind: Threads}
	for i := range ThreadID(200) {
		p.Threads = append(p.Threads, Thread{ID: i})
	}
	for range 100 {
		in := Instance{Folded: 1}
		for i := range p.Threads {
			in.Parts = append(in.Parts, Part{Thread: ThreadID(i)})
		}
		s.Instances = append(s.Instances, in)
	}
	for i := range 20 {
		s.Instances[0].Parts[i].Counts = c
	}
	p.Sections = []Section{s}
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	q, err := Read(bytes.NewReader(b.Bytes()))
	if err != nil || !reflect.DeepEqual(p, q) {
		t.Fatalf("differs (%v)", err)
	}
	if _, err := read(bytes.NewReader(b.Bytes()), 1<<20); err == nil || !strings.Contains(err.Error(), "needs more than 1 MB") {
		t.Errorf("with a limit of 1 MB: %v", err)
	}
}

// file returns a valid file.
func file(t testing.TB, seed uint64) []byte {
	var b bytes.Buffer
	if err := Write(&b, randomProfile(rand.New(rand.NewPCG(seed, 1)))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadErrors(t *testing.T) {
	good := file(t, 1)
	flipped := bytes.Clone(good)
	flipped[len(flipped)-7] ^= 1 // the checksum
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "not a skewlens profile"},
		{"foreign", "\x7fELF whatever else", "not a skewlens profile"},
		{"text twin", "skewlens profile as text 1\nend\n", "not a skewlens profile"},
		{"newer", "skewlens profile 2\n\x1f", "profile was written by a newer skewlens (format 2, this one reads 1): update skewlens"},
		{"cut in the magic", "skewlens pro", "ends early"},
		{"cut in the version", "skewlens profile 1", "ends early"},
		{"cut before the data", "skewlens profile 1\n", "ends early"},
		{"not compressed", "skewlens profile 1\nsomething else that is longer", "damaged"},
		{"checksum", string(flipped), "damaged"},
		{"goes on", string(good) + "x", "goes on after its end mark"},
		{"bomb", "skewlens profile 1\n" + bomb(64<<20), "damaged"},
		{"large chunk", "skewlens profile 1\n" + zipped([]byte{tableRun, 0xff, 0xff, 0xff, 0xff, 0x7f}), "needs more than"},
		{"empty chunks", "skewlens profile 1\n" + zipped([]byte{tableRun, 0}), "ends early"},
	} {
		_, err := Read(strings.NewReader(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got error %v, want one line with %q", c.name, err, c.want)
		}
	}
	for n := len(magic) + 2; n < len(good); n++ {
		if _, err := Read(bytes.NewReader(good[:n])); err == nil || !strings.Contains(err.Error(), "ends early") {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(good), err)
		}
	}
}

func zipped(b []byte) string {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write(b)
	w.Close()
	return z.String()
}

func bomb(n int) string { return zipped(make([]byte, n)) }

func TestReaderFails(t *testing.T) {
	broken := errors.New("disk on fire")
	r := io.MultiReader(bytes.NewReader(file(t, 1)[:60]), failing{broken})
	if _, err := Read(r); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := Write(failingWriter{broken}, &Profile{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := WriteText(failingWriter{broken}, &Profile{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

func FuzzRead(f *testing.F) {
	for seed := range uint64(20) {
		b := file(f, seed)
		f.Add(b)
		// The bytes below gzip are what a mutation should reach.
		z, err := gzip.NewReader(bytes.NewReader(b[len(magic)+2:]))
		if err != nil {
			f.Fatal(err)
		}
		raw, err := io.ReadAll(z)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !bytes.HasPrefix(b, []byte(magic[:1])) {
			b = []byte("skewlens profile 1\n" + zipped(b))
		}
		p, err := read(bytes.NewReader(b), 64<<20)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("error of several lines: %v", err)
			}
			return
		}
		if err := p.CheckValid(); err != nil {
			t.Fatal(err)
		}
		var again, text bytes.Buffer
		if err := Write(&again, p); err != nil {
			t.Fatal(err)
		}
		if q, err := Read(&again); err != nil || !reflect.DeepEqual(p, q) {
			t.Fatalf("does not come back: %v", err)
		}
		if err := WriteText(&text, p); err != nil {
			t.Fatal(err)
		}
		if q, err := ReadText(&text); err != nil || !reflect.DeepEqual(p, q) {
			t.Fatalf("does not come back as text: %v", err)
		}
	})
}
