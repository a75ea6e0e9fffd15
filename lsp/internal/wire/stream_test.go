package wire

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
)

func FuzzStream(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("Content-Length: 46\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}"))
	f.Add([]byte("Content-Length: 99999999\r\n\r\n{"))
	f.Add([]byte("Content-Length: 41\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":[null]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := NewStream(strings.NewReader(string(data)), io.Discard)
		for {
			msg, n, err := s.Read(context.Background())
			if err != nil {
				break
			}
			if msg == nil || n < 2 {
				t.Fatal("a message of nothing")
			}
		}
		s.Close()
		<-s.Done()
	})
}

func TestFramesRoundTrip(t *testing.T) {
	r, w := io.Pipe()
	s := NewStream(strings.NewReader(""), w)
	bodies := []string{"{}", `{"a":"ü🙂"}`, strings.Repeat("x", 200000)}
	for _, b := range bodies {
		if err := s.out.add([]byte(b)); err != nil {
			t.Fatal(err)
		}
	}
	in := bufio.NewReader(r)
	for _, b := range bodies {
		if got, err := ReadFrame(in); err != nil || string(got) != b {
			t.Fatalf("got %.20q, %v", got, err)
		}
	}
	s.Close()
	<-s.Done()
}
