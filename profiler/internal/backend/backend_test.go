package backend

import (
	"errors"
	"fmt"
	"testing"
)

// TestUnavailable: it is found in what wraps it, says what its cause says, and
// is no other error.
func TestUnavailable(t *testing.T) {
	cause := errors.New("no tracing here; allow it")
	err := fmt.Errorf("prepare x: %w", &Unavailable{cause})
	var u *Unavailable
	if !errors.As(err, &u) || !errors.Is(err, cause) || err.Error() != "prepare x: "+cause.Error() {
		t.Errorf("%v", err)
	}
	if errors.As(cause, &u) {
		t.Errorf("%v says that nothing has run", cause)
	}
}
