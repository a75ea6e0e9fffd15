package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

const (
	maxMessage = 256 << 20 // of a client: a file of that size is no source
	maxWaiting = 32 << 20  // of ours, that a client does not read: it is gone then
	maxBehind  = 2 << 20   // of ours, from which on nothing more is read of it
)

// Stream frames messages with Content-Length. Unlike the library's own it
// bounds what a message may take, goes on after a message that is not JSON,
// and never blocks when it writes: a client that writes to us before it reads
// would otherwise wait for us while we wait for it. Of one that is far behind with
// reading nothing more is read, so that what it asks for does not pile up.
type Stream struct {
	in  *bufio.Reader
	out *outbox
}

// NewStream reads messages from r, and begins to write what it is given to w.
func NewStream(r io.Reader, w io.Writer) *Stream {
	s := &Stream{in: bufio.NewReaderSize(r, 1<<16), out: &outbox{w: w, done: make(chan struct{})}}
	s.out.wake, s.out.room = sync.NewCond(&s.out.mu), sync.NewCond(&s.out.mu)
	go s.out.drain()
	return s
}

// Read returns the next message; an error means that no more can come.
func (s *Stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		s.out.catchUp()
		data, err := ReadFrame(s.in)
		if err != nil {
			return nil, 0, err
		}
		msg, err := decode(data)
		if err == nil {
			return msg, int64(len(data)), nil
		}
		code := jsonrpc2.InvalidRequest // JSON, but no request
		if !json.Valid(data) {
			code = jsonrpc2.ParseError
		}
		reply, _ := json.Marshal(Object{"jsonrpc": "2.0", "id": nil, "error": Object{"code": code, "message": OneLine(err.Error())}})
		if err := s.out.add(reply); err != nil {
			return nil, 0, err
		}
	}
}

// decode is DecodeMessage, whose own panics on hostile input become errors.
func decode(data []byte) (msg jsonrpc2.Message, err error) {
	defer func() {
		if p := recover(); p != nil {
			msg, err = nil, fmt.Errorf("the decoder gave up: %v", p)
		}
	}()
	// The decoder takes what follows a whole value as not its business.
	if !json.Valid(data) {
		return nil, errors.New("the message is not JSON")
	}
	return jsonrpc2.DecodeMessage(data)
}

// ReadFrame reads headers and body of one message. An error means that what
// follows cannot be read either.
func ReadFrame(in *bufio.Reader) ([]byte, error) {
	length := -1
	for n := 0; ; n++ {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) || n > 64 {
			return nil, errors.New("read message: its headers do not end")
		}
		if err != nil {
			return nil, err
		}
		text := strings.TrimSpace(string(line))
		if text == "" {
			if length < 0 {
				return nil, errors.New("read message: it has no Content-Length")
			}
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, fmt.Errorf("read message: header %.40q has no colon", text)
		}
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		length, err = strconv.Atoi(strings.TrimSpace(value))
		if err != nil || length < 0 || length > maxMessage {
			return nil, fmt.Errorf("read message: Content-Length %.40q is not possible", value)
		}
	}
	// What is announced may never come, so memory follows what does.
	var body bytes.Buffer
	body.Grow(min(length, 1<<20))
	if n, err := io.CopyN(&body, in, int64(length)); err != nil {
		return nil, fmt.Errorf("read message: %d of %d bytes came: %w", n, length, err)
	}
	return body.Bytes(), nil
}

// Write queues a message.
func (s *Stream) Write(_ context.Context, msg jsonrpc2.Message) (int64, error) {
	data, err := json.Marshal(msg)
	if err != nil {
		return 0, fmt.Errorf("write message: %w", err)
	}
	return int64(len(data)), s.out.add(data)
}

// Close ends writing. Reading ends with the reader, which is not ours.
func (s *Stream) Close() error {
	s.out.close()
	return nil
}

// Done is closed when all that was queued before Close is written, or nothing
// more can be.
func (s *Stream) Done() <-chan struct{} { return s.out.done }

// outbox is what waits to be written.
type outbox struct {
	w    io.Writer
	done chan struct{} // closed when all is written, or nothing more can be

	mu     sync.Mutex
	wake   *sync.Cond // there is something to write, or nothing more will come
	room   *sync.Cond // something was written, or nothing more can be
	queue  [][]byte
	bytes  int // in queue, and of what is being written
	closed bool
	err    error
}

func (o *outbox) add(data []byte) error {
	frame := make([]byte, 0, len(data)+40)
	frame = fmt.Appendf(frame, "Content-Length: %d\r\n\r\n", len(data))
	frame = append(frame, data...)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err != nil:
		return o.err
	case o.closed:
		return io.ErrClosedPipe
	case o.bytes > maxWaiting:
		o.err = errors.New("write message: the client does not read")
		o.wake.Signal()
		o.room.Broadcast()
		return o.err
	}
	o.queue = append(o.queue, frame)
	o.bytes += len(frame)
	o.wake.Signal()
	return nil
}

// catchUp waits until the client is not far behind.
func (o *outbox) catchUp() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.bytes > maxBehind && !o.closed && o.err == nil {
		o.room.Wait()
	}
}

func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.wake.Signal()
	o.room.Broadcast()
}

// drain writes until the end.
func (o *outbox) drain() {
	defer close(o.done)
	defer o.room.Broadcast()
	for {
		o.mu.Lock()
		for len(o.queue) == 0 && !o.closed && o.err == nil {
			o.wake.Wait()
		}
		batch := o.queue
		o.queue = nil
		if o.err != nil || len(batch) == 0 {
			o.mu.Unlock()
			return
		}
		o.mu.Unlock()
		for _, frame := range batch {
			if _, err := o.w.Write(frame); err != nil {
				o.mu.Lock()
				o.err = fmt.Errorf("write message: %w", err)
				o.mu.Unlock()
				return
			}
			o.mu.Lock()
			o.bytes -= len(frame)
			o.room.Broadcast()
			o.mu.Unlock()
		}
	}
}

// OneLine is a text without line ends: messages are shown in one line.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
