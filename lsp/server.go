package lsp

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"

	"github.com/skewlens/skewlens/lsp/internal/browser"
	"github.com/skewlens/skewlens/lsp/internal/discover"
	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report/scaling"
)

// Target is a program to profile, and how to build it.
type Target = workspace.Target

// Runner runs programs, which this package does not. When the context is
// cancelled it kills all that it started and returns.
type Runner interface {
	// Build runs a target's build command; line is called with what it prints.
	// An error is that it failed.
	Build(ctx context.Context, t Target, line func(string)) error
	Profile(ctx context.Context, t Target, progress func(Progress)) (*profile.Profile, error)
	// Scale times a target on several numbers of cores.
	Scale(ctx context.Context, t Target, progress func(Progress)) (*scaling.Report, error)
}

// Progress is how far a run has come; what is unknown is zero.
type Progress struct {
	Elapsed time.Duration
	Output  string // a line that the target printed
	Ranks   string // how far ranks have come; "": there are none
}

// Options are what the server needs of the world.
type Options struct {
	Runner    Runner
	CallSites func(program string) ([]profile.Location, error) // calls that end sections; nil: none are known
	Cache     string                                           // the folder for results; empty: they are not kept
	Now       func() time.Time
	Version   string
}

// server is one connection.
type server struct {
	opt      Options
	conn     jsonrpc2.Conn
	requests *wire.Dispatcher
	disk     *workspace.Disk
	programs *workspace.Programs
	finder   *discover.Finder
	store    *results.Store
	pages    browser.Pages

	exit  chan struct{}
	ended sync.Once
	gone  chan struct{} // closed when the client's process is
	over  chan struct{} // closed when Serve is about to return
	turn  chan struct{} // holds one token: who takes it may run

	// Each of these lets one at a time do what takes long; see state.go.
	reading  sync.Mutex // of configurations
	keeping  sync.Mutex // of the cache folder
	stepping sync.Mutex // from cause to cause
	told     told

	mu     sync.Mutex // guards what follows; see state.go
	state  state
	runs   map[*run]bool
	tokens int

	offered map[string]bool // targets that were offered to be written down
	stuck   map[string]bool // folders of which what was found came to nothing last
}

func newServer(opt Options) *server {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	disk := &workspace.Disk{}
	s := &server{
		opt: opt, disk: disk, programs: workspace.NewPrograms(disk, opt.CallSites), finder: discover.New(disk), store: results.NewStore(opt.Cache, disk),
		exit: make(chan struct{}), gone: make(chan struct{}), over: make(chan struct{}), turn: make(chan struct{}, 1),
		told:  told{diagnostics: map[string]uint64{}, results: fnv.New64a().Sum64(), pulled: fnv.New64a().Sum64()}, // of nothing
		state: state{enc: text.UTF16, space: workspace.New(disk)},
		runs:  map[*run]bool{}, offered: map[string]bool{}, stuck: map[string]bool{},
	}
	s.turn <- struct{}{}
	return s
}

// Serve answers a client until it is gone or says exit, then ends what runs.
func Serve(ctx context.Context, r io.Reader, w io.Writer, opt Options) error {
	return newServer(opt).serve(ctx, r, w)
}

func (s *server) serve(ctx context.Context, r io.Reader, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st := wire.NewStream(r, w)
	s.requests = wire.NewDispatcher(s.handle, s.failed)
	s.conn = jsonrpc2.NewConn(st)
	s.conn.Go(ctx, s.requests.Serve)
	go s.grow()
	select {
	case <-s.conn.Done(): // its end of the pipe is closed: it is gone
	case <-s.exit:
	case <-s.gone:
	case <-st.Done(): // it reads no more: it is gone too
	case <-ctx.Done():
	}
	defer close(s.over)
	cancel()
	s.requests.End() // the runs are in it: all that was started is killed by now
	s.pages.Close()
	st.Close()
	select {
	case <-st.Done():
	case <-s.gone: // somebody may still hold its pipes, and never read
		return nil
	}
	select {
	case <-s.exit:
		if v := s.view(); v.began && !v.stopping {
			return errNoShutdown
		}
		return nil
	default:
	}
	if err := s.conn.Err(); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
