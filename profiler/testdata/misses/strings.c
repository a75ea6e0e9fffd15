/* A text of many words that is searched, compared and copied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level.h"

static __attribute__((noinline)) int work(void)
{
	enum { SIZE = 2 << 20, WORDS = 30000 };
	char *text = malloc(SIZE), *copy = malloc(SIZE), *word[WORDS];
	unsigned x = 7;
	size_t n = 0;
	for (int i = 0; i < SIZE - 1; i++) {
		x = x * 1103515245 + 12345;
		text[i] = (x >> 16) % 9 ? 'a' + (x >> 20) % 26 : ' ';
	}
	text[SIZE - 1] = 0;
	for (int i = 0; i < 10; i++)
		n += strlen(text + i) + (size_t)(strrchr(text, 'q') - text);
	strcpy(copy, text);
	for (char *p = text; (p = strchr(p, 'z')); p++)
		n++;
	for (char *p = text; (p = strstr(p, "the")); p++)
		n++;
	char *p = strtok(copy, " ");
	for (int i = 0; i < WORDS; i++, p = strtok(0, " "))
		word[i] = strdup(p);
	for (int k = 1; k < 20; k++)
		for (int i = 0; i < WORDS; i++)
			n += strcmp(word[i], word[(i * 7919 + k) % WORDS]) < 0;
	n += memchr(text, '#', SIZE - 1) != 0;
	printf("%zu\n", n);
	return 0;
}
