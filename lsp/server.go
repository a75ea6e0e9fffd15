package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"

	"github.com/skewlens/skewlens/profile"
)

// Runner runs programs, which this package does not. When the context is
// cancelled it kills all that it started and returns.
type Runner interface {
	// Build runs a target's build command; line is called with what it prints.
	// An error is that it failed.
	Build(ctx context.Context, t Target, line func(string)) error
	Profile(ctx context.Context, t Target, progress func(Progress)) (*profile.Profile, error)
}

// Progress is how far a run has come; what is unknown is zero.
type Progress struct {
	Elapsed time.Duration
	Output  string // a line that the target printed
}

// Options are what the server needs of the world.
type Options struct {
	Runner    Runner
	CallSites func(program string) ([]profile.Location, error) // calls that end sections; nil: none are known
	Cache     string                                           // the folder for results; empty: they are not kept
	Now       func() time.Time
	Version   string
}

// server is one connection's state.
type server struct {
	opt   Options
	conn  jsonrpc2.Conn
	chain *chain
	exit  chan struct{}
	ended sync.Once
	gone  chan struct{} // closed when the client's process is
	over  chan struct{} // closed when Serve is about to return
	turn  chan struct{} // holds one token: who takes it may run
	sites *siteCache
	web   *web
	saved *store

	mu        sync.Mutex // guards what follows
	began     bool
	stopping  bool
	client    capabilities
	notify    bool   // the client wants skewlens/resultsChanged
	announced uint64 // digest of the results when it was sent last
	soon      *time.Timer
	enc       encoding
	roots     []*root
	docs      map[string]*document
	disk      map[string]*text // of files that are not open
	seen      map[string]*text // of open ones as they were built, while a result is made
	results   map[string]*result
	built     map[string][]diagnostic // of the last failed build, by path
	published map[string]uint64
	recent    docURI // the document that was opened or edited last
	shown     string // the cause that was shown last
	runs      map[*run]bool
	tokens    int
}

// Serve answers a client until it is gone or says exit, then ends what runs.
func Serve(ctx context.Context, r io.Reader, w io.Writer, opt Options) error {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st := newStream(r, w)
	s := &server{
		opt: opt, exit: make(chan struct{}), gone: make(chan struct{}), over: make(chan struct{}), turn: make(chan struct{}, 1), enc: utf16, saved: newStore(opt.Cache),
		sites: newSiteCache(opt.CallSites), web: &web{}, docs: map[string]*document{}, disk: map[string]*text{},
		results: map[string]*result{}, built: map[string][]diagnostic{}, published: map[string]uint64{}, runs: map[*run]bool{},
		announced: fnv.New64a().Sum64(), // of no results
	}
	s.turn <- struct{}{}
	s.chain = newChain(s.handle, s.failed)
	s.conn = jsonrpc2.NewConn(st)
	s.conn.Go(ctx, s.chain.serve)
	select {
	case <-s.conn.Done(): // its end of the pipe is closed: it is gone
	case <-s.exit:
	case <-s.gone:
	case <-st.out.done: // it reads no more: it is gone too
	case <-ctx.Done():
	}
	defer close(s.over)
	cancel()
	s.chain.end() // the runs are in it: all that was started is killed by now
	s.web.close()
	st.Close()
	select {
	case <-st.out.done:
	case <-s.gone: // somebody may still hold its pipes, and never read
		return nil
	}
	select {
	case <-s.exit:
		return nil
	default:
	}
	if err := s.conn.Err(); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// handle finds what answers a message.
func (s *server) handle(ctx context.Context, req jsonrpc2.Request) (any, error) {
	_, isCall := req.(*jsonrpc2.Call)
	method, params := req.Method(), req.Params()
	s.mu.Lock()
	began, stopping := s.began, s.stopping
	s.mu.Unlock()
	switch {
	case isCall && method != "initialize" && !began:
		return nil, jsonrpc2.NewError(codeNotInitialized, "initialize comes first")
	case isCall && stopping:
		return nil, jsonrpc2.NewError(codeInvalidRequest, "the server is shutting down")
	case !isCall && !began && method != "exit":
		return nil, nil
	}
	if isCall {
		if f, ok := requests[method]; ok {
			return f(s, ctx, params)
		}
		return nil, jsonrpc2.NewError(codeMethodNotFound, fmt.Sprintf("%.100q is not something that this server does", method))
	}
	if f, ok := notifications[method]; ok {
		return nil, f(s, params)
	}
	return nil, nil // unknown notifications are to be ignored
}

type request = func(s *server, ctx context.Context, params json.RawMessage) (any, error)

var requests map[string]request

var notifications map[string]func(s *server, params json.RawMessage) error

func init() {
	requests = map[string]request{
		"initialize":               (*server).initialize,
		"shutdown":                 (*server).shutdown,
		"textDocument/codeLens":    (*server).codeLens,
		"textDocument/hover":       (*server).hover,
		"textDocument/inlayHint":   (*server).inlayHint,
		"textDocument/codeAction":  (*server).codeAction,
		"workspace/executeCommand": (*server).executeCommand,
	}
	notifications = map[string]func(*server, json.RawMessage) error{
		"initialized":                         (*server).initialized,
		"exit":                                (*server).exited,
		"textDocument/didOpen":                (*server).didOpen,
		"textDocument/didChange":              (*server).didChange,
		"textDocument/didSave":                (*server).didSave,
		"textDocument/didClose":               (*server).didClose,
		"workspace/didChangeWatchedFiles":     (*server).didChangeWatchedFiles,
		"workspace/didChangeConfiguration":    (*server).didChangeConfiguration,
		"workspace/didChangeWorkspaceFolders": (*server).didChangeWorkspaceFolders,
		"window/workDoneProgress/cancel":      (*server).progressCancel,
	}
}

func invalid(err error) error {
	return jsonrpc2.NewError(codeInvalidParams, "parameters: "+oneLine(err.Error()))
}

// failed logs what nobody waits for an answer to.
func (s *server) failed(method string, err error) {
	s.log(typeError, method+": "+err.Error())
}

// Types of messages.
const (
	typeError   = 1
	typeWarning = 2
	typeInfo    = 3
	typeLog     = 4
)

func (s *server) log(kind int, message string) {
	s.tell("window/logMessage", object{"type": kind, "message": message})
}

func (s *server) show(kind int, message string) {
	s.tell("window/showMessage", object{"type": kind, "message": message})
}

// tell sends a notification; where the client is gone, there is nobody to tell.
func (s *server) tell(method string, params any) {
	_ = s.conn.Notify(context.Background(), method, params)
}

// ask sends a request that nobody waits for.
func (s *server) ask(method string, params any) {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		go func() {
			select {
			case <-s.conn.Done():
				cancel()
			case <-s.exit:
				cancel()
			case <-ctx.Done():
			}
		}()
		_, _ = s.conn.Call(ctx, method, params, nil)
	}()
}

// refreshViews has the client ask for lenses and hints again.
func (s *server) refreshViews() {
	if s.client.Workspace.CodeLens.RefreshSupport {
		s.ask("workspace/codeLens/refresh", nil)
	}
	if s.client.Workspace.InlayHint.RefreshSupport {
		s.ask("workspace/inlayHint/refresh", nil)
	}
	s.announce(true)
}

// settled is how long nothing changes before lists are made anew.
const settled = 200 * time.Millisecond

// announceSoon is for what changes with every key: where results stand, and
// whether they are stale.
func (s *server) announceSoon() {
	if !s.notify {
		return
	}
	if s.soon != nil {
		s.soon.Reset(settled)
		return
	}
	s.soon = time.AfterFunc(settled, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.announce(false)
	})
}

// announce tells a client that wants to know it that skewlens.causes answers
// differently; always, or only if it does.
func (s *server) announce(always bool) {
	if !s.notify {
		return
	}
	h := fnv.New64a()
	where := func(a *anchor) {
		if a != nil {
			fmt.Fprintln(h, a.path, a.now)
		}
	}
	for _, r := range s.sorted() {
		fmt.Fprintln(h, r.key(), r.staleness())
		for _, sec := range r.sections {
			where(sec.at)
			for _, c := range s.shownCauses(sec) {
				fmt.Fprintln(h, c.Rank)
				where(c.at)
			}
		}
	}
	if always || s.announced != h.Sum64() {
		s.announced = h.Sum64()
		s.tell("skewlens/resultsChanged", object{})
	}
}
