package cfg

import "slices"

// takesLock are the library functions that begin a critical section, takesOther
// those that take another kind of lock: when they return 0.
var (
	takesLock = []string{"pthread_mutex_lock", "pthread_mutex_timedlock", "pthread_mutex_clocklock", "pthread_mutex_trylock",
		"mtx_lock", "mtx_timedlock", "mtx_trylock"}
	takesOther = []string{"pthread_spin_lock", "pthread_spin_trylock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock",
		"pthread_rwlock_tryrdlock", "pthread_rwlock_trywrlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock",
		"pthread_rwlock_clockrdlock", "pthread_rwlock_clockwrlock"}
	givesBack = []string{"pthread_mutex_unlock", "pthread_spin_unlock", "pthread_rwlock_unlock", "mtx_unlock"}
)

// TakesLock reports whether a library function takes a lock when it returns 0.
func TakesLock(function string) bool {
	return slices.Contains(takesLock, function) || slices.Contains(takesOther, function)
}

// GivesLock reports whether it gives one back.
func GivesLock(function string) bool { return slices.Contains(givesBack, function) }
