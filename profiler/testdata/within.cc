// What happens within functions of libraries: faults that are handled, exceptions and
// jumps through their frames, signals, threads that are cancelled, processes.
#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <map>
#include <pthread.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

extern char **environ;

static sigjmp_buf back;
static volatile sig_atomic_t faults, ticks, frames;
static char *guarded;

static void onFault(int, siginfo_t *, void *)
{
	faults++;
	siglongjmp(back, 1);
}

static void mends(int, siginfo_t *info, void *)
{
	faults++;
	mprotect((void *)((unsigned long)info->si_addr & ~4095UL), 4096, PROT_READ | PROT_WRITE);
}

static void onTick(int)
{
	void *at[20];
	ticks++;
	frames += backtrace(at, 20) > 2;
}

static int throws(const void *a, const void *b)
{
	static int n;
	if (++n % 50 == 0)
		throw std::runtime_error("compared enough");
	return *(const int *)a - *(const int *)b;
}

static int jumps(const void *, const void *) { siglongjmp(back, 2); }

static void handle(int sig, void (*f)(int, siginfo_t *, void *))
{
	struct sigaction a = {};
	a.sa_sigaction = f;
	a.sa_flags = SA_SIGINFO;
	sigaction(sig, &a, nullptr);
}

static int faulting()
{
	int n = 0;
	handle(SIGSEGV, onFault);
	for (int i = 0; i < 20; i++)
		if (!sigsetjmp(back, 1))
			n += strlen(i % 2 ? (char *)16 : guarded) + memcmp(guarded, guarded + 100, 50);
		else
			n += 1000;
	handle(SIGSEGV, mends);
	for (int i = 0; i < 10; i++) {
		mprotect(guarded, 8192, PROT_NONE);
		memset(guarded + 10, i, 8000);
		mprotect(guarded, 8192, PROT_NONE);
		n += strlen(guarded + 10) > 0;
	}
	signal(SIGSEGV, SIG_DFL);
	return n;
}

static int leaving()
{
	std::vector<int> v(300);
	int n = 0;
	for (int i = 0; i < 300; i++)
		v[i] = i * 7919 % 300;
	for (int i = 0; i < 10; i++) {
		try {
			qsort(v.data(), v.size(), sizeof(int), throws);
		} catch (const std::runtime_error &e) {
			n += strlen(e.what());
		}
		if (sigsetjmp(back, 1) == 0)
			qsort(v.data(), v.size(), sizeof(int), jumps);
		else
			n++;
		try {
			std::for_each(v.begin(), v.end(), [&](int x) { n += std::stoi(x % 90 == 89 ? "none" : std::to_string(x)) > 200; });
		} catch (const std::invalid_argument &) {
			n += 7;
		}
	}
	return n;
}

static int interrupted()
{
	std::map<std::string, int> m;
	struct itimerval every = {{0, 3000}, {0, 3000}}, off = {};
	int n = 0;
	signal(SIGALRM, onTick);
	setitimer(ITIMER_REAL, &every, nullptr);
	for (int i = 0; ticks < 30 || i < 3000; i++) {
		char line[100];
		snprintf(line, sizeof line, "%d and %f", i % 3000, i * .5);
		m[line]++;
		std::string s(1000 + i % 500, 'x');
		n = s.find('y') == std::string::npos;
	}
	setitimer(ITIMER_REAL, &off, nullptr);
	return n + (frames > 0);
}

static void *waits(void *)
{
	char c;
	pthread_cleanup_push([](void *p) { ++*(int *)p; }, (void *)&frames);
	read(*(int *)guarded, &c, 1); // never comes
	pthread_cleanup_pop(0);
	return nullptr;
}

static void *works(void *p)
{
	std::vector<char *> all;
	long n = 0;
	for (int i = 0; i < 3000; i++) {
		all.push_back(strdup(std::to_string(i * (long)p).c_str()));
		if (i % 3 == 0)
			free(all.back()), all.pop_back();
	}
	for (char *s : all)
		n += strlen(s), free(s);
	if ((long)p % 2)
		pthread_exit((void *)n);
	return (void *)n;
}

static long threads()
{
	int ends[2];
	pthread_t t[8], w;
	long n = 0;
	mprotect(guarded, 8192, PROT_READ | PROT_WRITE);
	if (pipe(ends))
		return -1;
	memcpy(guarded, &ends[0], sizeof(int));
	pthread_create(&w, nullptr, waits, nullptr);
	for (long i = 0; i < 8; i++)
		pthread_create(&t[i], nullptr, works, (void *)(i + 1));
	for (pthread_t x : t) {
		void *r;
		pthread_join(x, &r);
		n += (long)r;
	}
	pthread_cancel(w);
	pthread_join(w, nullptr);
	return n;
}

static int processes()
{
	int status, n = 0;
	pid_t p = fork();
	if (p == 0) {
		std::string s = "a child";
		s.resize(3000, 'c');
		_exit(strlen(s.c_str()) == 3000 ? 3 : 4);
	}
	waitpid(p, &status, 0);
	n += WEXITSTATUS(status);
	const char *args[] = {"sh", "-c", "exit 5", nullptr};
	posix_spawn(&p, "/bin/sh", nullptr, nullptr, (char *const *)args, environ);
	waitpid(p, &status, 0);
	n += 10 * WEXITSTATUS(status);
	if ((p = vfork()) == 0) {
		execv("/bin/sh", (char *const *)args);
		_exit(1);
	}
	waitpid(p, &status, 0);
	n += 100 * WEXITSTATUS(status);
	FILE *f = popen("echo 7", "r");
	int seven = 0;
	if (f && fscanf(f, "%d", &seven) == 1)
		n += 1000 * seven;
	pclose(f);
	return n + 10000 * WEXITSTATUS(system("exit 2"));
}

static ucontext_t here, there;

static void elsewhere()
{
	printf("on another stack\n");
	swapcontext(&there, &here);
	printf("there again, %s\n", std::string(30, '-').c_str());
}

int main(int, char **argv)
{
	static char stack[1 << 16];
	void *loaded[1]; // the first time it allocates memory, which no handler may
	backtrace(loaded, 1);
	guarded = (char *)mmap(nullptr, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("%d", faulting());
	printf(" of %d faults\n", (int)faults);
	printf("%d left\n", leaving());
	printf("%d interrupted\n", interrupted());
	printf("%ld by threads\n", threads());
	fflush(stdout);
	printf("%d by processes\n", processes());
	getcontext(&there);
	there.uc_stack.ss_sp = stack, there.uc_stack.ss_size = sizeof stack, there.uc_link = &here;
	makecontext(&there, elsewhere, 0);
	swapcontext(&here, &there);
	swapcontext(&here, &there);
	fflush(stdout);
	if (argv[1])
		return puts((char *)8) + 1; // it dies of this
	exit(7);
}
