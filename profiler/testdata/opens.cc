// Loads libphase.cc while it runs, twice, and forks in between.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void (*phase)(int, int);
static int (*each)(int (*)(int), int);

static int twice(int x) { return 2 * x; }

static void *run(void *a) {
	long id = (long)a;
	phase(id, 20);
	return (void *)(long)each(twice, 10 + id);
}

static void *find(void *lib, const char *name) {
	void *f = dlsym(lib, name);
	if (!f)
		abort();
	return f;
}

int main(int argc, char **argv) {
	long sum = 0;
	for (int round = 0; round < 2; round++) {
		void *lib = dlopen(argv[1], RTLD_NOW);
		if (!lib) {
			std::puts(dlerror());
			return 1;
		}
		((void (*)(int))find(lib, "lib_init"))(4);
		phase = (void (*)(int, int))find(lib, "lib_phase");
		each = (int (*)(int (*)(int), int))find(lib, "lib_each");
		pthread_t t[4];
		for (long i = 0; i < 4; i++)
			pthread_create(&t[i], nullptr, run, (void *)i);
		for (int i = 0; i < 4; i++) {
			void *n;
			pthread_join(t[i], &n);
			sum += (long)n;
		}
		dlclose(lib);
		std::fflush(stdout);
		if (pid_t child = fork()) {
			int status;
			waitpid(child, &status, 0);
			sum += status;
		} else {
			_exit(dlopen(argv[1], RTLD_NOW) ? 0 : 1); // a child opens libraries too
		}
	}
	std::printf("%ld\n", sum);
	return 0;
}
