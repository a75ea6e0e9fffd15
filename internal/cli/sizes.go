package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// sizes are those of caches, ascending; none: no such are asked for.
type sizes []int64

// What can be told apart: each size is twice the one before.
const (
	smallest = 16 << 10
	largest  = 32 << 20
)

// parse reads "16K,64K", and "16K,...,32M" for all between, with three dots or one
// character.
func (s *sizes) parse(text string) error {
	*s = nil
	between := false
	for _, w := range strings.Split(text, ",") {
		if w == "..." || w == "…" {
			if between || len(*s) == 0 {
				return errors.New("… stands between two sizes: 16K,…,32M")
			}
			between = true
			continue
		}
		n, err := parseSize(w)
		if err != nil {
			return err
		}
		if last := len(*s) - 1; last >= 0 && n <= (*s)[last] {
			return fmt.Errorf("%s is not larger than what stands before it", w)
		}
		for between && (*s)[len(*s)-1] < n/2 {
			*s = append(*s, 2*(*s)[len(*s)-1])
		}
		between = false
		*s = append(*s, n)
	}
	if between {
		return errors.New("… stands between two sizes: 16K,…,32M")
	}
	return nil
}

func parseSize(w string) (n int64, err error) {
	unit, digits := int64(1), w
	for letter, size := range map[string]int64{"K": 1 << 10, "M": 1 << 20} {
		if d, ok := strings.CutSuffix(w, letter); ok {
			unit, digits = size, d
		}
	}
	n, err = strconv.ParseInt(digits, 10, 32)
	n *= unit
	if err != nil || unit == 1 || n < smallest || n > largest || n&(n-1) != 0 {
		return 0, fmt.Errorf("%q is no size that can be told: 16K, 32K, 64K and so on, each twice the one before, to 32M", w)
	}
	return n, nil
}
