package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	for args, want := range map[string]string{
		"": "branch, loop,", "branch": "# branch\n\nThreads take", "false": `no kind of cause is called "false"; there are branch, loop,`, "branch loop": "explain takes one kind",
	} {
		var out, errs bytes.Buffer
		status := app{}.start(context.Background(), &out, &errs, append([]string{"explain"}, strings.Fields(args)...))
		if got := out.String() + errs.String(); !strings.Contains(got, want) || (status == 0) != (args == "" || args == "branch") {
			t.Errorf("explain %s: status %d, %s", args, status, got)
		}
	}
}
