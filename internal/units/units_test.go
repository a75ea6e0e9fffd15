package units_test

import (
	"testing"

	"github.com/skewlens/skewlens/internal/units"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{units.Percent(0), "0 %"},
		{units.Percent(0.0004), "<0.1 %"},
		{units.Percent(0.004), "0.4 %"},
		{units.Percent(0.00949), "0.9 %"},
		{units.Percent(0.0096), "1 %"},
		{units.Percent(0.413), "41 %"},
		{units.Seconds(12.34), "12.3 s"},
		{units.Seconds(1), "1.00 s"},
		{units.Seconds(0.0412), "41.2 ms"},
		{units.Seconds(0.0000412), "41.2 µs"},
		{units.SecondsOf(0.004, 2), "0.00 s"},
		{units.SecondsOf(0.14, 0.41), "140 ms"},
		{units.Digits(99.96), "100.0"},
		{units.Count(0), "0"},
		{units.Count(999), "999"},
		{units.Count(1234567), "1,234,567"},
		{units.Compact(12345), "12,345"},
		{units.Compact(560123456), "560 M"},
		{units.Compact(2_500_000_000_000), "2.50 T"},
		{units.Plural(1, "cause"), "1 cause"},
		{units.Plural(0, "cause"), "0 causes"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestSecondsOf(t *testing.T) {
	for _, c := range []struct {
		s, scale float64
		want     string
	}{{1.234, 4, "1.23 s"}, {0.5, 4, "0.50 s"}, {.0125, .1, "12.5 ms"}, {.25, .3, "250 ms"}, {5e-6, 5e-6, "5.00 µs"}, {0, 0, "0.00 µs"}} {
		if got := units.SecondsOf(c.s, c.scale); got != c.want {
			t.Errorf("SecondsOf(%v, %v) = %q, want %q", c.s, c.scale, got, c.want)
		}
	}
}

func TestOrdinal(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 20: "20th", 21: "21st", 112: "112th", 122: "122nd"} {
		if got := units.Ordinal(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
