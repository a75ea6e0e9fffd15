package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes the stable, versioned form.
func WriteJSON(w io.Writer, r *Report) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // C++ names are full of < and >
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
