package profiler_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// watch ends a test that hangs.
func watch(t *testing.T) {
	timer := time.AfterFunc(time.Minute, func() { panic(t.Name() + " hangs") })
	t.Cleanup(func() { timer.Stop() })
}

// TestLinkersStubs: whatever a linker's stubs look like, and whenever their
// slots are filled, programs call what they meant to, and it is seen.
func TestLinkersStubs(t *testing.T) {
	for _, c := range []string{
		"ld.bfd gcc -fuse-ld=bfd -Wl,-z,lazy",
		"ld.bfd gcc -fuse-ld=bfd -Wl,-z,now",
		"ld.bfd gcc -fuse-ld=bfd -fcf-protection -Wl,-z,lazy,-z,ibtplt",
		"ld.bfd gcc -fuse-ld=bfd -fcf-protection -Wl,-z,now,-z,ibtplt",
		"ld.bfd gcc -fuse-ld=bfd -fno-plt",
		"ld.gold gcc -fuse-ld=gold -Wl,-z,lazy",
		"ld.lld clang -fuse-ld=lld -Wl,-z,lazy",
		"ld.lld clang -fuse-ld=lld -Wl,-z,lazy,-z,retpolineplt",
		"ld.lld clang -fuse-ld=lld -Wl,-z,now,-z,retpolineplt",
		"ld.lld clang -fuse-ld=lld -fcf-protection -Wl,-z,lazy,-z,force-ibt",
		"mold gcc -fuse-ld=mold -pie -Wl,-z,lazy",
		"mold gcc -fuse-ld=mold -no-pie -Wl,-z,lazy",
		"mold gcc -fuse-ld=mold -Wl,-z,now",
		"mold gcc -fuse-ld=mold -fno-plt",
	} {
		t.Run(strings.ReplaceAll(c, " ", "_"), func(t *testing.T) {
			watch(t)
			w := strings.Fields(c)
			proctest.Need(t, w[0])
			prog := proctest.Build(t, w[1], append(w[2:], "-O2", "-g", "-pthread", filepath.Join("testdata", "stubs.c"))...)
			p := same(t, prog)
			var kinds []string
			for _, s := range p.Sections {
				kinds = append(kinds, string(s.Kind))
			}
			if slices.Sort(kinds); !slices.Equal(kinds, []string{"barrier", "join"}) {
				t.Errorf("sections %v", kinds)
			}
		})
	}
}
