/* A file that is written and read, by bytes, by lines and in blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level.h"

static __attribute__((noinline)) int work(void)
{
	FILE *f = tmpfile();
	char *all = malloc(4 << 20), line[300];
	long sum = 0;
	if (!f)
		return 1;
	for (int i = 0; i < 40000; i++)
		fprintf(f, "%d: a line of %s, %x\n", i, i % 3 ? "some words" : "a few more words than others have", i * 77);
	for (int i = 0; i < 300000; i++)
		putc('a' + i % 20, f);
	rewind(f);
	while (fgets(line, sizeof line, f))
		sum += (long)strlen(line);
	rewind(f);
	for (int c; (c = getc(f)) != EOF;)
		sum += c;
	rewind(f);
	for (size_t n, at = 0; (n = fread(all + at, 1, 10000, f)) > 0; at += n)
		sum += all[at];
	for (int k = 0; k < 3; k++) {
		memset(all + 1000000, k, 3000000);
		for (int i = 0; i < 4000000; i += 64)
			sum += all[i];
	}
	rewind(f);
	for (int i = 0; i < 300; i++)
		fwrite(all + i * 1000, 1, 12345, f);
	fclose(f);
	printf("%ld\n", sum);
	return 0;
}
