package browser

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func request(t *testing.T, method, url, host string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		req.Host = host
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header
}

func show(t *testing.T, w *Pages, name, page string) string {
	t.Helper()
	url, err := w.Show(name, []byte(page), nil)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

func TestPagesAreForOneReader(t *testing.T) {
	var w Pages
	defer w.Close()
	one, two := show(t, &w, "one", "<p>one"), show(t, &w, "two", "<p>two")
	if one == two || !strings.HasPrefix(one, "http://127.0.0.1:") {
		t.Errorf("the pages are at %s and %s", one, two)
	}
	secret := strings.Split(one, "/")[3]
	if len(secret) < 32 {
		t.Errorf("the path %q can be guessed", secret)
	}
	code, body, h := request(t, "GET", one, "")
	if code != 200 || body != "<p>one" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("Cache-Control") != "no-store" {
		t.Errorf("got %d %q %v", code, body, h)
	}
	if code, body, _ := request(t, "HEAD", one, ""); code != 200 || body != "" {
		t.Errorf("HEAD got %d %q", code, body)
	}
	for name, c := range map[string]struct{ method, url, host string }{
		"another host name": {"GET", one, "evil.example"},
		"without its path":  {"GET", strings.TrimSuffix(one, secret+"/"), ""},
		"another path":      {"GET", strings.Replace(one, secret, strings.Repeat("0", len(secret)), 1), ""},
		"another method":    {"POST", one, ""},
	} {
		if code, body, _ := request(t, c.method, c.url, c.host); code != 404 || strings.Contains(body, "one") {
			t.Errorf("%s got %d %q", name, code, body)
		}
	}
}

func TestAPageIsReplaced(t *testing.T) {
	var w Pages
	url := show(t, &w, "one", "old")
	if again := show(t, &w, "one", "new"); again != url {
		t.Errorf("the same page is at %s and %s", url, again)
	}
	if _, body, _ := request(t, "GET", url, ""); body != "new" {
		t.Errorf("got %q", body)
	}
	w.Close()
	if _, err := http.Get(url); err == nil {
		t.Error("it is still there")
	}
	(&Pages{}).Close() // of what never showed anything
}

// A click on a line opens it, and the page stays; nobody else can make one.
func TestLinesOfAPageAreOpened(t *testing.T) {
	var w Pages
	defer w.Close()
	var opened []int
	page, err := w.Show("one", []byte("<p>"), func(n int) { opened = append(opened, n) })
	if err != nil {
		t.Fatal(err)
	}
	if code, _, _ := request(t, "GET", page+Line(7), ""); code != 204 {
		t.Errorf("a click got %d", code)
	}
	for _, c := range [][3]string{{"POST", page + Line(8), ""}, {"GET", page + Line(9), "evil.example"}, {"GET", page + "open?x", ""}, {"GET", show(t, &w, "two", "") + Line(1), ""}} {
		if code, _, _ := request(t, c[0], c[1], c[2]); code != 404 {
			t.Errorf("%v got %d", c, code)
		}
	}
	if len(opened) != 1 || opened[0] != 7 {
		t.Errorf("opened %v", opened)
	}
}
