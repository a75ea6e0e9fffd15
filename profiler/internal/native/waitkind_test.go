package native

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/probe/blocking"
)

// TestKinds: what a futex is waited on for, by symbols as compilers write them: of
// glibc, glib, both manglings of Rust's and Qt.
func TestKinds(t *testing.T) {
	for name, want := range map[string]profile.WaitKind{
		"__pthread_mutex_lock": profile.WaitLock,
		"g_mutex_lock":         profile.WaitLock,
		"g_cond_wait":          profile.WaitCondition,
		"_ZN3std3sys5unix5locks11futex_mutex5Mutex14lock_contended17h0123456789abcdefE":        profile.WaitLock,
		"_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended":      profile.WaitLock,
		"_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync6rwlock5futexNtB2_6RwLock14read_contended":    profile.WaitLock,
		"_RNvMs0_NtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync4once5futexNtB5_4Once4call":                profile.WaitLock,
		"_ZN3std3sys5unix5locks12futex_rwlock6RwLock15write_contended17h0123456789abcdefE":     profile.WaitLock,
		"_ZN11parking_lot9raw_mutex8RawMutex9lock_slow17h0123456789abcdefE":                    profile.WaitLock,
		"_ZN11parking_lot7condvar7Condvar19wait_until_internal17h0123456789abcdefE":            profile.WaitCondition,
		"_ZN3std3sys5unix5locks13futex_condvar7Condvar22wait_optional_timeout17h0123456789abE": profile.WaitCondition,
		"_ZN11QBasicMutex12lockInternalEv":                                                     profile.WaitLock,
		"_ZN6QMutex4lockEv":                                                                    profile.WaitLock,
		"_ZN14QWaitCondition4waitEP6QMutex14QDeadlineTimer":                                    profile.WaitCondition,
	} {
		if got := kindOf(blocking.Futex, []string{name}); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
