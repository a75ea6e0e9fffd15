package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

// Each type of ours is here for what the library's cannot say. One that it can
// say by now is to go.
func TestWhyTheTypesAreOurs(t *testing.T) {
	says := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	zero, version, none := 0, int32(0), []protocol.Diagnostic{}
	for part, of := range map[string][2]any{
		`"percentage":0`:               {ProgressReport{Percentage: &zero}, protocol.WorkDoneProgressReport{}},
		`"version":0`:                  {PublishDiagnosticsParams{Version: &version, Diagnostics: none}, protocol.PublishDiagnosticsParams{Diagnostics: none}},
		`"external":false`:             {ShowDocumentParams{}, protocol.ShowDocumentParams{}},
		`"token":""`:                   {ProgressParams{Token: json.RawMessage(`""`)}, &protocol.ProgressParams{Token: *protocol.NewProgressToken("")}},
		`"positionEncoding":"utf-8"`:   {ServerCapabilities{PositionEncoding: "utf-8"}, protocol.ServerCapabilities{}},
		`"inlayHintProvider":{`:        {ServerCapabilities{}, protocol.ServerCapabilities{}},
		`"workDoneProgress":true`:      {ExecuteCommandOptions{WorkDoneProgress: true}, protocol.ExecuteCommandOptions{}},
		`"documentChanges":[{"kind":"`: {DocumentChanges{[]any{&protocol.CreateFile{Kind: "create"}}}, protocol.WorkspaceEdit{DocumentChanges: []protocol.TextDocumentEdit{{}}}},
	} {
		if got := says(of[0]); !strings.Contains(got, part) {
			t.Errorf("ours says %s, want %s", got, part)
		}
		if got := says(of[1]); strings.Contains(got, part) {
			t.Errorf("the library's says %s too: %s", part, got)
		}
	}

	const modern = `{"processId":null,"capabilities":{"general":{"positionEncodings":["utf-8"]},"textDocument":{"semanticTokens":{"requests":{"range":{}}}}}}`
	var ours InitializeParams
	if err := json.Unmarshal([]byte(modern), &ours); err != nil || ours.ProcessID != nil || ours.Capabilities.General.PositionEncodings[0] != "utf-8" {
		t.Errorf("ours: %+v, %v", ours, err)
	}
	if json.Unmarshal([]byte(modern), &protocol.InitializeParams{}) == nil {
		t.Error("the library decodes capabilities of 3.17 by now")
	}
	const whole = `{"contentChanges":[{"text":"x"}]}`
	var edit DidChangeTextDocumentParams
	if err := json.Unmarshal([]byte(whole), &edit); err != nil || edit.Changes[0].Range != nil {
		t.Errorf("ours: %+v, %v", edit, err)
	}
	var one protocol.TextDocumentContentChangeEvent
	if err := json.Unmarshal([]byte(`{"text":"x"}`), &one); err != nil || one.Range != (protocol.Range{}) {
		t.Errorf("the library tells an absent range by now: %+v, %v", one, err)
	}
	action := CodeAction{CodeAction: protocol.CodeAction{Title: "t", Edit: &protocol.WorkspaceEdit{}}, Edit: DocumentChanges{[]any{1}}}
	if got := says(action); got != `{"title":"t","edit":{"documentChanges":[1]}}` {
		t.Errorf("an action says %s", got)
	}
}
