package lsp

import (
	"context"
	"time"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/wire"
)

// failed logs what nobody waits for an answer to.
func (s *server) failed(method string, err error) {
	s.log(protocol.MessageTypeError, method+": "+err.Error())
}

func (s *server) log(kind protocol.MessageType, message string) {
	s.tell("window/logMessage", protocol.LogMessageParams{Type: kind, Message: message})
}

func (s *server) show(kind protocol.MessageType, message string) {
	s.tell("window/showMessage", protocol.ShowMessageParams{Type: kind, Message: message})
}

// showDocument opens a document in the client, if that can.
func (s *server) showDocument(uri protocol.DocumentURI, external bool, where *protocol.Range) {
	if s.view().client.Window.ShowDocument.Support {
		s.ask("window/showDocument", wire.ShowDocumentParams{URI: uri, External: external, TakeFocus: true, Selection: where})
	}
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

// refreshViews has the client ask for all that it shows of results again.
func (s *server) refreshViews() {
	s.refresh()
	s.announce(true)
}

// refresh has the client ask for lenses and hints again.
func (s *server) refresh() {
	v := s.view()
	if v.client.Workspace.CodeLens.RefreshSupport {
		s.ask("workspace/codeLens/refresh", nil)
	}
	if v.client.Workspace.InlayHint.RefreshSupport {
		s.ask("workspace/inlayHint/refresh", nil)
	}
}
