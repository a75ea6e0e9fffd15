// Ways through C that are known: every block calls MARK, which counts by its line.
#ifdef __cplusplus
extern "C" {
#endif

enum { LINES = 256 };
extern unsigned long marks[LINES];

void mark(int line);
#ifndef FIRST
#define FIRST 0
#endif
#define MARK mark(FIRST + __LINE__)

long ways(long n);
long caught(long n);
long back(long n);
long through(long n);

#ifdef __cplusplus
}
#endif
