package profile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Rank is a process of a program of several, as mpirun and srun start them. Each is
// profiled by itself, where it runs, and its profile has it alone; package ranks makes
// one profile of all.
type Rank struct {
	Rank, Size int      // Size 0: not known
	Host       string   // where it ran
	Job        string   // what its launcher calls the run; "": not known
	Launcher   string   // that told so: "openmpi", "mpich", "slurm", "pmix"
	Cores      int      // of the machine; 0: not known
	StartNS    int64    // when it began, since 1970, by its machine's clock
	Main       ThreadID // its first thread
}

// MPICall says which collective call an instance of kind MPI was: the same one has the
// same Comm and First on all members of the communicator.
type MPICall struct {
	Comm  string // how the communicator came to be: "world", "world/3:1"
	First uint64 // how many calls on it came before
	N     int    // how many were added up, from that one on; 0: it is none
}

// Message is the waits for one other rank at one call, added up.
type Message struct {
	Site    Addr // the call
	Partner int  // the rank, from 1; 0: not known, or several
	Sends   bool // the partner received late; else it sent late
	NS      int64
	N       int
}

func checkRanks(p *Profile) error {
	for i, r := range p.Ranks {
		switch {
		case r.Rank < 0 || r.Size < 0 || r.Size > 0 && r.Rank >= r.Size:
			return fmt.Errorf("rank %d of %d", r.Rank, r.Size)
		case i > 0 && (p.Ranks[i-1].Rank >= r.Rank || p.Ranks[i-1].Main >= r.Main):
			return fmt.Errorf("rank %d comes behind rank %d", r.Rank, p.Ranks[i-1].Rank)
		case r.Cores < 0:
			return fmt.Errorf("rank %d: %d cores", r.Rank, r.Cores)
		case r.StartNS < 0:
			return fmt.Errorf("rank %d began before 1970", r.Rank)
		}
	}
	return nil
}

func (c MPICall) check(k SectionKind) error {
	switch {
	case c.N < 0:
		return fmt.Errorf("%d collective calls", c.N)
	case c.N == 0 && (c.Comm != "" || c.First != 0), c.N > 0 && (k != MPI || c.Comm == ""):
		return fmt.Errorf("a collective call on %q of a section of kind %s", c.Comm, k)
	}
	return nil
}

func checkMessages(list []Message) error {
	for _, m := range list {
		if m.NS < 0 || m.N < 1 || m.Partner < 0 {
			return fmt.Errorf("%d waits for rank %d of %d ns", m.N, m.Partner-1, m.NS)
		}
	}
	return nil
}

// packMessages writes each as five varints: call, partner, direction, nanoseconds, number.
func packMessages(list []Message) (b []byte) {
	for _, m := range list {
		sends := uint64(0)
		if m.Sends {
			sends = 1
		}
		for _, v := range []uint64{uint64(m.Site), uint64(m.Partner), sends, uint64(m.NS), uint64(m.N)} {
			b = binary.AppendUvarint(b, v)
		}
	}
	return b
}

func (d *decoder) unpackMessages(b []byte) (list []Message, err error) {
	if err := d.charge(int64(len(b)/5) * 40); err != nil {
		return nil, err
	}
	for len(b) > 0 {
		var v [5]uint64
		if b, err = varints(b, v[:]); err != nil || v[1] > math.MaxInt32 || v[2] > 1 || v[3] > math.MaxInt64 || v[4] > math.MaxInt32 {
			return nil, errors.New("a list of messages is garbled")
		}
		list = append(list, Message{Addr(v[0]), int(v[1]), v[2] == 1, int64(v[3]), int(v[4])})
	}
	return list, nil
}
