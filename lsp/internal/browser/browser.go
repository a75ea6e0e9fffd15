// Package browser shows pages to a browser on this machine.
//
//	Pages.Show(name, page) ─▶ http://127.0.0.1:port/secret/ ─▶ window/showDocument
//	                                │
//	                  GET ─▶ host and path are right? ─▶ page, with a policy that lets it load nothing
//
// Reports tell of source code, so nobody else on the network may read them:
// the server listens on the loopback interface, from the first page on. Nor may
// another user, or a web site that is open in the same browser: paths cannot be
// guessed, and a request under another host name is refused.
package browser

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Pages are what is shown. The zero value shows nothing, and listens nowhere.
type Pages struct {
	mu    sync.Mutex
	ln    net.Listener
	srv   *http.Server
	host  string
	pages map[string][]byte // by path
	paths map[string]string // by what is shown there
	opens map[string]func(line int)
}

// Show shows a page under a URL, the same for the same name. Its links to
// [Line] call open, and leave the browser where it is.
func (w *Pages) Show(name string, page []byte, open func(line int)) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ln == nil {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", fmt.Errorf("show the report: %w", err)
		}
		w.ln, w.host = ln, ln.Addr().String()
		w.pages, w.paths, w.opens = map[string][]byte{}, map[string]string{}, map[string]func(int){}
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
	w.pages[path], w.opens[path+opener] = page, open
	return "http://" + w.host + path, nil
}

// opener is the name under a page's path that its lines are opened by.
const opener = "open"

// Line is the address of a line within a page, by its number.
func Line(n int) string { return opener + "?" + strconv.Itoa(n) }

// ServeHTTP implements [http.Handler].
func (w *Pages) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	w.mu.Lock()
	page, ok := w.pages[req.URL.Path]
	open := w.opens[req.URL.Path]
	host := w.host
	w.mu.Unlock()
	// Another host name that leads here is a web site's attempt to read along.
	if line, err := strconv.Atoi(req.URL.RawQuery); err == nil && open != nil && req.Host == host && req.Method == http.MethodGet {
		open(line)
		rw.WriteHeader(http.StatusNoContent)
		return
	}
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

// Close ends listening.
func (w *Pages) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.srv != nil {
		w.srv.Close()
	}
}
