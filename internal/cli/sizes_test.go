package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]sizes{
		"16K":                {16 << 10},
		"16K,64K,1M":         {16 << 10, 64 << 10, 1 << 20},
		"512K,...,2M":        {512 << 10, 1 << 20, 2 << 20},
		"16K,32K,…,128K,32M": {16 << 10, 32 << 10, 64 << 10, 128 << 10, 32 << 20},
		"16K,...,64K,…,256K": {16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10},
		"16K,...,32K":        {16 << 10, 32 << 10},
		"32768K":             {32 << 20},
	} {
		var s sizes
		if err := s.parse(text); err != nil || !slices.Equal(s, want) {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
	for text, want := range map[string]string{
		"": `"" is no size`, "16": `"16" is no size`, "8K": "is no size", "64M": "is no size", "48K": "is no size", "16KM": "is no size", "-16K": "is no size",
		"64K,32K": "not larger", "16K,16K": "not larger", "…,16K": "between two", "16K,…": "between two", "16K,…,…,1M": "between two", "99999999999K": "is no size", "16K,": `"" is no size`,
	} {
		var s sizes
		if err := s.parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %q", text, s, err, want)
		}
	}
}
