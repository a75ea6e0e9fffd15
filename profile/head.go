package profile

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
)

// ReadHead reads what a profile's file says of its run, and no more of it: Program,
// Run and Ranks. Whether the rest is whole is not looked at.
func ReadHead(r io.Reader) (*Profile, error) {
	in := bufio.NewReader(r)
	if err := readMagic(in, magic, format); err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, damaged(err)
	}
	d := &decoder{r: bufio.NewReader(z), limit: MaxMemory, left: MaxMemory}
	p := &Profile{}
	if err := d.head(p); err != nil {
		return nil, damaged(err)
	}
	return p, checkRanks(p)
}

func (d *decoder) head(p *Profile) error {
	var runs []wireRun
	if err := d.next(); err != nil {
		return err
	}
	if err := decodeRows(d, tableRun, keepIn(&runs, func(r *wireRun) wireRun { return *r })); err != nil {
		return err
	}
	if err := decodeRows(d, tableArgs, keepIn(&p.Program.Args, func(r *string) string { return *r })); err != nil {
		return err
	}
	if len(runs) != 1 {
		return fmt.Errorf("it describes %d runs", len(runs))
	}
	p.takeRun(&runs[0])
	return nil
}

// takeRun takes what the first table says.
func (p *Profile) takeRun(r *wireRun) {
	p.Program.Path, p.Program.BuildID = r.Path, r.BuildID
	for _, l := range r.Libraries {
		p.Program.Libraries = append(p.Program.Libraries, Library(l))
	}
	p.Program.Uncounted, p.Program.LibraryCalls = r.Uncounted, r.LibraryCalls
	p.Run = Run{r.Backend, r.WallNS, r.Cores, r.ExitCode, r.Signal, r.Slowdown, r.Virtual, r.Machine}
	for _, x := range r.Ranks {
		p.Ranks = append(p.Ranks, Rank(x))
	}
	p.Coverage.Functions, p.Coverage.FunctionsTotal = r.Functions, r.FunctionsTotal
	p.Coverage.Instructions, p.Coverage.InstructionsTotal = r.Instructions, r.InstructionsTotal
}
