package wire

import (
	"bufio"
	"context"
	"fmt"
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

func TestWhatIsNoFrame(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "EOF",
		"Content-Length: 5\r\n\r\nab":       "2 of 5 bytes came",
		"\r\n":                              "no Content-Length",
		"hello\r\n\r\n":                     "has no colon",
		"Content-Length: -1\r\n\r\n":        "is not possible",
		"Content-Length: 999999999\r\n\r\n": "is not possible",
		strings.Repeat("A: b\r\n", 99):      "do not end",
		strings.Repeat("x", 1<<17):          "do not end",
	} {
		_, _, err := NewStream(strings.NewReader(in), io.Discard).Read(context.Background())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", in, err, want)
		}
	}
}

// What is framed but no message is answered, and reading goes on.
func TestWhatIsNoMessage(t *testing.T) {
	r, w := io.Pipe()
	const hello = `{"jsonrpc":"2.0","method":"hello"}`
	var bytes strings.Builder
	for _, body := range []string{"{", "[]", hello} {
		fmt.Fprintf(&bytes, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	s := NewStream(strings.NewReader(bytes.String()), w)
	msg, n, err := s.Read(context.Background())
	if err != nil || n != int64(len(hello)) {
		t.Fatalf("got %v, %d, %v", msg, n, err)
	}
	in := bufio.NewReader(r)
	for _, code := range []string{"-32700", "-32600"} {
		if got, err := ReadFrame(in); err != nil || !strings.Contains(string(got), code) {
			t.Errorf("answered %s, %v; want %s", got, err, code)
		}
	}
	written := make(chan error, 1)
	go func() {
		_, err := s.Write(context.Background(), msg)
		written <- err
	}()
	if got, err := ReadFrame(in); err != nil || !strings.Contains(string(got), "hello") || <-written != nil {
		t.Errorf("wrote %s, %v", got, err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := s.Read(cancelled); err == nil {
		t.Error("read though it was cancelled")
	}
	s.Close()
	<-s.Done()
	if _, err := s.Write(context.Background(), msg); err == nil {
		t.Error("wrote after the end")
	}
}

// A client that reads nothing blocks nobody, until too much waits for it; one
// that is gone is told of at the next write.
func TestClientsThatDoNotRead(t *testing.T) {
	r, w := io.Pipe()
	s := NewStream(strings.NewReader(""), w)
	big := make([]byte, maxWaiting/4)
	var err error
	for i := 0; err == nil; i++ {
		if i > 9 {
			t.Fatal("it takes for ever")
		}
		err = s.out.add(big)
	}
	if !strings.Contains(err.Error(), "does not read") {
		t.Errorf("got %v", err)
	}
	r.Close()
	<-s.Done()

	r, w = io.Pipe()
	s = NewStream(strings.NewReader(""), w)
	r.Close()
	_ = s.out.add([]byte("{}"))
	<-s.Done()
	if err := s.out.add([]byte("{}")); err == nil {
		t.Error("wrote to nobody")
	}
}
