package lsp

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// web shows reports to a browser on this machine: on the loopback interface
// only, under paths that nobody can guess.
type web struct {
	mu    sync.Mutex
	ln    net.Listener
	srv   *http.Server
	host  string
	pages map[string][]byte // by path
	paths map[string]string // by what is shown there
}

// serve shows a page under a URL, the same for the same name.
func (w *web) serve(name string, page []byte) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ln == nil {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", fmt.Errorf("show the report: %w", err)
		}
		w.ln, w.host = ln, ln.Addr().String()
		w.pages, w.paths = map[string][]byte{}, map[string]string{}
		w.srv = &http.Server{Handler: w, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 1 << 14}
		go w.srv.Serve(ln)
	}
	path, ok := w.paths[name]
	if !ok {
		var secret [24]byte
		if _, err := rand.Read(secret[:]); err != nil {
			return "", err
		}
		path = "/" + hex.EncodeToString(secret[:]) + "/"
		w.paths[name] = path
	}
	w.pages[path] = page
	return "http://" + w.host + path, nil
}

func (w *web) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	w.mu.Lock()
	page, ok := w.pages[req.URL.Path]
	host := w.host
	w.mu.Unlock()
	// Another host name that leads here is a web site's attempt to read along.
	if !ok || req.Host != host || req.Method != http.MethodGet && req.Method != http.MethodHead {
		http.NotFound(rw, req)
		return
	}
	h := rw.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = rw.Write(page)
}

func (w *web) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.srv != nil {
		w.srv.Close()
	}
}
