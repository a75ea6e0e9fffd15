package cfg

import (
	"slices"
	"strings"
)

// Behind which library functions shared data are read, and behind which no more.
// Libraries have locks and conditions of their own, over futexes or over the
// system's: who takes work under one takes it from a store that all share as under
// any other. Of such a lock nothing is recorded, so that this is all it is known for.
var (
	lockedBy = []string{"pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_spin_lock", "pthread_rwlock_wrlock", "mtx_lock",
		"g_mutex_lock", "g_rec_mutex_lock", "g_rw_lock_writer_lock", // GLib
		"uv_mutex_lock", "uv_cond_wait", "uv_cond_timedwait", // libuv
		"SDL_LockMutex", "SDL_mutexP", "SDL_CondWait", // SDL
		"apr_thread_mutex_lock", "apr_thread_cond_wait"} // APR
	// OpenMP's, which return nothing when they have it (and whether, those that try).
	teamsLock   = []string{"GOMP_critical_start", "GOMP_critical_name_start", "__kmpc_critical", "__kmpc_critical_with_hint", "omp_set_lock", "omp_set_nest_lock"}
	teamsTry    = []string{"omp_test_lock", "omp_test_nest_lock"}
	teamsUnlock = []string{"GOMP_critical_end", "GOMP_critical_name_end", "__kmpc_end_critical", "omp_unset_lock", "omp_unset_nest_lock"}
	othersGive  = []string{"g_mutex_unlock", "g_rec_mutex_unlock", "g_rw_lock_writer_unlock",
		"uv_mutex_unlock", "SDL_UnlockMutex", "SDL_mutexV", "apr_thread_mutex_unlock"}
	// By how a name in C++ ends, since namespaces carry versions: Abseil's, Qt's, Boost's, POCO's.
	methodsLock = []string{"5Mutex4LockEv", "5Mutex5AwaitERKNS0_9ConditionE", "7CondVar4WaitEPNS0_5MutexE",
		"6QMutex4lockEv", "14QWaitCondition4waitEP6QMutexm", "14QWaitCondition4waitEP6QMutex14QDeadlineTimer",
		"5mutex4lockEv", "18condition_variable4waitERNS_11unique_lockINS_5mutexEEE", "9MutexImpl8lockImplEv"}
	methodsUnlock = []string{"5Mutex6UnlockEv", "6QMutex6unlockEv", "5mutex6unlockEv", "9MutexImpl10unlockImplEv"}
)

// lockOf is what a library function does about a lock.
func lockOf(name string) (locks, unlocks bool) {
	return slices.Contains(lockedBy, name) || slices.Contains(conditionWaits, name) || isMethod(name, methodsLock) || HasLock(name) || isTeams(name, teamsTry),
		GivesLock(name) || slices.Contains(othersGive, name) || isMethod(name, methodsUnlock)
}

// HasLock reports whether a library function has taken a lock whatever it returns.
func HasLock(name string) bool { return isTeams(name, teamsLock) }

// isTeams: Fortran's names end in an underscore.
func isTeams(name string, list []string) bool {
	return slices.Contains(list, strings.TrimRight(name, "_"))
}

// isMethod: a mangled name is that of one of these methods.
func isMethod(name string, methods []string) bool {
	return strings.HasPrefix(name, "_ZN") && slices.ContainsFunc(methods, func(m string) bool { return strings.HasSuffix(name, m) })
}

// runsOne: a function of a library takes the next piece, does it, and returns whether
// there was one: what Asio's contexts and pools go round by. It is too large, and
// goes by too many pointers, to be seen through.
func runsOne(name string) bool { return strings.Contains(name, "4asio6detail9scheduler10do_run_oneE") }
