package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

type cost struct{ cpu, wall time.Duration }

// atOnce is the CPU time of who has done nothing: it was started, found no work and ended.
const atOnce = 5 * time.Millisecond

// measure runs a program, which reads an input ("": nothing). One that fails, or ends at once, has
// not done what was to be measured.
func measure(words []string, input string) (c cost, err error) {
	cmd := exec.Command(words[0], words[1:]...)
	var says bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &says
	if input != "" {
		in, err := os.Open(input)
		if err != nil {
			return c, fmt.Errorf("input of %s: %w", words[0], err)
		}
		defer in.Close()
		cmd.Stdin = in
	}
	from := time.Now()
	err = cmd.Run()
	c.wall = time.Since(from)
	if err != nil {
		return c, fmt.Errorf("run %s: %w: %s; run it by hand to see what it lacks", strings.Join(words, " "), err, lastLine(says.String()))
	}
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return c, c.check(words)
}

// check says so where a program has ended at once.
func (c cost) check(words []string) error {
	if c.cpu >= atOnce {
		return nil
	}
	return fmt.Errorf("run %s: it ended after %v of CPU time, which says nothing: give it its input, or more to do", strings.Join(words, " "), c.cpu)
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
