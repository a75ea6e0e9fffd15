package wire

import (
	"context"
	"io"
	"strings"
	"testing"
)

// Of a client that does not read nothing more is read, until it does.
func TestClientFarBehind(t *testing.T) {
	out, in := io.Pipe()
	s := NewStream(strings.NewReader("Content-Length: 40\r\n\r\n"+`{"jsonrpc":"2.0","method":"x","params":1}`[:40]), in)
	for s.out.bytes <= maxBehind {
		if err := s.out.add(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _, _ = s.Read(context.Background())
	}()
	select {
	case <-read:
		t.Error("it was read of a client that is far behind")
	default:
	}
	go io.Copy(io.Discard, out)
	<-read
	s.Close()
	<-s.Done()
}
