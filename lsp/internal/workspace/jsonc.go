package workspace

import (
	"bytes"
	"strings"
)

// plainJSON makes JSON of JSON with comments and commas before closing
// brackets: both become spaces, so that offsets stay.
func plainJSON(in []byte) []byte {
	out := bytes.Clone(in)
	if bytes.HasPrefix(out, []byte("\xef\xbb\xbf")) {
		blank(out[:3])
	}
	comma := -1 // the last one, if nothing but space came since
	for i := 0; i < len(out); {
		if n := comment(out[i:]); n > 0 {
			blank(out[i : i+n])
			i += n
			continue
		}
		switch c := out[i]; {
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			out[comma] = ' '
			comma = -1
		case strings.IndexByte(" \t\r\n", c) < 0:
			comma = -1
		}
		i += token(out[i:])
	}
	return out
}

// comment is how long the comment is that a text begins with; 0: none.
func comment(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("//")):
		if n := bytes.IndexByte(b, '\n'); n >= 0 {
			return n
		}
		return len(b)
	case bytes.HasPrefix(b, []byte("/*")):
		if n := bytes.Index(b[2:], []byte("*/")); n >= 0 {
			return n + 4
		}
		return len(b)
	}
	return 0
}

// token is how long the string or character is that a text begins with.
func token(b []byte) int {
	if b[0] != '"' {
		return 1
	}
	i := 1
	for i < len(b) && b[i] != '"' {
		if b[i] == '\\' {
			i++
		}
		i++
	}
	return min(i+1, len(b))
}

func blank(b []byte) {
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
}
