package cfg

import "strings"

// Libraries have locks and conditions of their own, over futexes or over the
// system's: who takes work under one takes it from a store that all share as under
// any other. Of such a lock nothing is recorded, so that this is all it is known for.
var (
	othersLocks = map[string]bool{
		"g_mutex_lock": true, "g_rec_mutex_lock": true, "g_rw_lock_writer_lock": true, "g_cond_wait": true, "g_cond_wait_until": true, // GLib
		"uv_mutex_lock": true, "uv_cond_wait": true, "uv_cond_timedwait": true, // libuv
		"SDL_LockMutex": true, "SDL_mutexP": true, "SDL_CondWait": true, // SDL
		"apr_thread_mutex_lock": true, "apr_thread_cond_wait": true, // APR
	}
	othersUnlocks = map[string]bool{"g_mutex_unlock": true, "g_rec_mutex_unlock": true, "g_rw_lock_writer_unlock": true,
		"uv_mutex_unlock": true, "SDL_UnlockMutex": true, "SDL_mutexV": true, "apr_thread_mutex_unlock": true}
	// By how a name in C++ ends, since namespaces carry versions: Abseil's, Qt's, Boost's, POCO's.
	methodsLock = []string{"5Mutex4LockEv", "5Mutex5AwaitERKNS0_9ConditionE", "7CondVar4WaitEPNS0_5MutexE",
		"6QMutex4lockEv", "14QWaitCondition4waitEP6QMutexm", "14QWaitCondition4waitEP6QMutex14QDeadlineTimer",
		"5mutex4lockEv", "18condition_variable4waitERNS_11unique_lockINS_5mutexEEE", "9MutexImpl8lockImplEv"}
	methodsUnlock = []string{"5Mutex6UnlockEv", "6QMutex6unlockEv", "5mutex6unlockEv", "9MutexImpl10unlockImplEv"}
)

// lockedBy are the functions behind which shared data are read.
var lockedBy = map[string]bool{"pthread_mutex_lock": true, "pthread_mutex_trylock": true, "pthread_mutex_timedlock": true, "pthread_spin_lock": true,
	"pthread_rwlock_wrlock": true, "mtx_lock": true,
	// A wait at a condition variable ends with the lock held.
	"pthread_cond_wait": true, "pthread_cond_timedwait": true, "pthread_cond_clockwait": true, "cnd_wait": true, "cnd_timedwait": true,
	"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE": true}

// lockOf is what a library function does about a lock.
func lockOf(name string) (locks, unlocks bool) {
	return lockedBy[name] || othersLocks[name] || isMethod(name, methodsLock), GivesLock(name) || othersUnlocks[name] || isMethod(name, methodsUnlock)
}

// isMethod: a mangled name is that of one of these methods.
func isMethod(name string, methods []string) bool {
	if !strings.HasPrefix(name, "_ZN") {
		return false
	}
	for _, m := range methods {
		if strings.HasSuffix(name, m) {
			return true
		}
	}
	return false
}

// runsOne: a function of a library takes the next piece, does it, and returns whether
// there was one: what Asio's contexts and pools go round by. It is too large, and
// goes by too many pointers, to be seen through.
func runsOne(name string) bool { return strings.Contains(name, "4asio6detail9scheduler10do_run_oneE") }
