package profile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/fxamacker/cbor/v2"
)

// A profile file is one line of text, then a gzip stream of chunks:
//
//	skewlens profile 1\n
//	gzip ┬ chunk: table (1 byte), length (uvarint), rows (CBOR array of maps with small integer keys)
//	     ├ chunk …                                  in the order of the tables
//	     └ chunk: the end mark, with the number of chunks before it
//
// gzip brings the checksum. The bytes depend on the profile alone. A chunk
// holds a bounded number of rows and no row nests another, so that a reader
// never holds more than one small chunk above what it has been charged for.
const (
	magic  = "skewlens profile "
	format = 1

	// MaxMemory is how much a profile may take when read, so that a small
	// hostile file cannot fill the machine.
	MaxMemory = 4 << 30

	chunkRows  = 4096    // a writer's chunk
	chunkBytes = 1 << 20 // a writer starts a new chunk above this
	maxRows    = 1 << 16 // a reader's limits
	maxChunk   = 256 << 20
)

// The tables, in the order in which they stand in a file.
const (
	tableRun byte = iota + 1
	tableArgs
	tableSkipped
	tableWarnings // the run's, then each section's
	tableFunctions
	tableBlocks
	tableEdges
	tableEvents
	tableThreads
	tableSections
	tableInstances // of all sections, in order
	tableParts     // of all sections: each one's totals, then its instances' parts
	tableLocations
	tableFrames // of all locations: its own, then those inlined at
	tableEnd
)

// Write writes a profile that CheckValid accepts. Equal profiles give equal bytes.
func Write(w io.Writer, p *Profile) error {
	if err := p.CheckValid(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s%d\n", magic, format); err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	// Varints leave little to find: the fastest level is four times as fast
	// as the default and makes files no larger.
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	e := &encoder{w: bufio.NewWriterSize(z, 1<<16)}
	p.encode(e)
	e.chunk(tableEnd, []uint64{e.chunks})
	if e.err == nil {
		e.err = e.w.Flush()
	}
	if err := z.Close(); e.err == nil {
		e.err = err
	}
	if e.err != nil {
		return fmt.Errorf("write profile: %w", e.err)
	}
	return nil
}

// Read reads what Write wrote. It refuses what CheckValid refuses, and
// profiles that would take more than MaxMemory.
func Read(r io.Reader) (*Profile, error) { return read(r, MaxMemory) }

func read(r io.Reader, limit int64) (*Profile, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if err := readMagic(in, magic, format); err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, damaged(err)
	}
	z.Multistream(false)
	d := &decoder{r: bufio.NewReaderSize(z, 1<<16), limit: limit, left: limit}
	p, err := d.profile()
	if err != nil {
		return nil, damaged(err)
	}
	// Reading on to the end of the stream is what compares the checksum.
	if n, err := io.Copy(io.Discard, io.LimitReader(d.r, 1)); err != nil || n > 0 {
		return nil, damaged(err)
	}
	if _, err := in.ReadByte(); err != io.EOF {
		return nil, damaged(errors.New("it goes on after its end mark"))
	}
	if err := p.CheckValid(); err != nil {
		return nil, err
	}
	return p, nil
}

// foreign says what a file is instead, of those that are easily taken for a profile: the
// program, and the report that was made of the profile.
func foreign(begins []byte) error {
	const what = "not a skewlens profile"
	switch {
	case len(begins) == 0:
		return errors.New(what + ": it is empty; profile again, with --save FILE")
	case string(begins[:min(4, len(begins))]) == "\x7fELF":
		return errors.New(what + ", but a program: skewlens profile --save FILE -- program makes one of it")
	case begins[0] == '{' || begins[0] == '<':
		return errors.New(what + ", but perhaps a report: give the file that profile --save FILE wrote, of which reports are made")
	}
	return fmt.Errorf(what+" (it begins with %.20q): give a file that skewlens saved", begins)
}

// readMagic reads the first line: what the file is, and its version.
func readMagic(in *bufio.Reader, magic string, format int) error {
	line, err := in.Peek(len(magic))
	if string(line) != magic[:len(line)] || len(line) == 0 && err == io.EOF {
		return foreign(line)
	}
	head, err := in.ReadSlice('\n')
	if err != nil && len(head) < 64 {
		return damaged(err)
	}
	var v int
	if n, _ := fmt.Sscanf(strings.TrimPrefix(string(head), magic), "%d\n", &v); n != 1 || v < 1 || len(head) > 64 {
		return fmt.Errorf("not a skewlens profile (its first line is %.40q): give a file that skewlens saved", head)
	}
	if v > format {
		return fmt.Errorf("profile was written by a newer skewlens (format %d, this one reads %d): update skewlens", v, format)
	}
	return nil
}

// damaged words what went wrong below the first line.
func damaged(err error) error {
	var long *tooLarge
	switch {
	case errors.As(err, &long):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("profile ends early, it was cut when written or copied: copy it again, or profile again")
	case err == nil:
		err = errors.New("it goes on after its end mark")
	}
	return fmt.Errorf("profile is damaged (%w): copy it again, or profile again", err)
}

type tooLarge struct{ limit int64 }

func (e *tooLarge) Error() string {
	return fmt.Sprintf("profile needs more than %d MB of memory: it is damaged, or profile a shorter run", e.limit>>20)
}

// encoder writes chunks; the first error sticks.
type encoder struct {
	w      *bufio.Writer
	rows   bytes.Buffer // of the chunk that is written
	chunks uint64
	err    error
}

// Strings go as byte strings: a path or a symbol need not be UTF-8.
var encMode = must(cbor.EncOptions{String: cbor.StringToByteString, NaNConvert: cbor.NaNConvertReject, InfConvert: cbor.InfConvertReject}.UserBufferEncMode())

var decMode = must(cbor.DecOptions{
	ByteStringToString: cbor.ByteStringToStringAllowed, MaxArrayElements: maxRows, MaxMapPairs: 64, MaxNestedLevels: 4,
	IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden, NaN: cbor.NaNDecodeForbidden, Inf: cbor.InfDecodeForbidden,
	DupMapKey: cbor.DupMapKeyEnforcedAPF,
}.DecMode())

func must[T any](m T, err error) T {
	if err != nil {
		panic(err) // the options above are constants
	}
	return m
}

func (e *encoder) chunk(table byte, rows any) {
	if e.err != nil {
		return
	}
	e.rows.Reset()
	if e.err = encMode.MarshalToBuffer(rows, &e.rows); e.err != nil {
		return
	}
	n := e.rows.Len()
	if n > maxChunk {
		e.err = fmt.Errorf("a row of table %d takes %d MB", table, n>>20)
		return
	}
	head := binary.AppendUvarint([]byte{table}, uint64(n))
	if _, e.err = e.w.Write(head); e.err == nil {
		_, e.err = e.w.Write(e.rows.Bytes())
	}
	e.chunks++
}

// encodeRows writes n rows, chunk by chunk. size estimates a row's bytes where rows may be large.
func encodeRows[T any](e *encoder, table byte, n int, row func(int) T, size func(T) int) {
	rows := make([]T, 0, min(n, chunkRows))
	bytes := 0
	for i := range n {
		t := row(i)
		rows = append(rows, t)
		if size != nil {
			bytes += size(t)
		}
		if len(rows) == chunkRows || bytes >= chunkBytes || i == n-1 {
			e.chunk(table, rows)
			rows, bytes = rows[:0], 0
		}
	}
}

// decoder reads chunks, and charges what it keeps.
type decoder struct {
	r           *bufio.Reader
	limit, left int64
	chunks      uint64
	table       byte // of the chunk that is next
	buf         []byte
}

func (d *decoder) charge(bytes int64) error {
	if d.left -= bytes; d.left < 0 {
		return &tooLarge{d.limit}
	}
	return nil
}

// next moves to the next chunk.
func (d *decoder) next() error {
	var err error
	if d.table, err = d.r.ReadByte(); err != nil {
		return err
	}
	n, err := binary.ReadUvarint(d.r)
	if err != nil {
		return err
	}
	if n > maxChunk || int64(n) > d.left {
		return &tooLarge{min(d.limit, maxChunk)}
	}
	// Grow with what arrives, not with what is announced.
	d.buf = d.buf[:0]
	for rest := int(n); rest > 0; {
		step := min(rest, max(1<<16, len(d.buf)))
		at := len(d.buf)
		d.buf = append(d.buf, make([]byte, step)...)
		if _, err := io.ReadFull(d.r, d.buf[at:]); err != nil {
			return err
		}
		rest -= step
	}
	d.chunks++
	return nil
}

// decodeRows reads all chunks of one table; keep turns a row into what stays.
func decodeRows[T any](d *decoder, table byte, keep func(*T) error) error {
	var t T
	rowSize := int64(reflect.TypeOf(t).Size())
	var rows []T
	for d.table == table {
		clear(rows) // what a row leaves out is zero
		rows = rows[:0]
		if err := decMode.Unmarshal(d.buf, &rows); err != nil {
			return err
		}
		if err := d.charge(rowSize*int64(len(rows)) + int64(len(d.buf))); err != nil {
			return err
		}
		for i := range rows {
			if err := keep(&rows[i]); err != nil {
				return err
			}
		}
		if err := d.next(); err != nil {
			return err
		}
	}
	return nil
}

// end checks the end mark.
func (d *decoder) end() error {
	var n []uint64
	if d.table != tableEnd {
		return fmt.Errorf("table %d is out of order", d.table)
	}
	if err := decMode.Unmarshal(d.buf, &n); err != nil {
		return err
	}
	if len(n) != 1 || n[0] != d.chunks-1 {
		return errors.New("its end mark does not match")
	}
	return nil
}
