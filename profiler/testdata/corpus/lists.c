// Linked lists, a hash table, a binary tree: pointers and small helpers.
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next, *left, *right; unsigned key; };
static struct node *bucket[64], *root;
static unsigned hash(unsigned k) { return (k * 2654435761u) >> 26; }
static struct node *find(unsigned k) { for (struct node *n = bucket[hash(k)]; n; n = n->next) if (n->key == k) return n; return NULL; }
static void plant(struct node **t, struct node *n) { while (*t) t = n->key < (*t)->key ? &(*t)->left : &(*t)->right; *t = n; }
static unsigned depth(struct node *t) { if (!t) return 0; unsigned l = depth(t->left), r = depth(t->right); return 1 + (l > r ? l : r); }
static unsigned long sum(struct node *t) { return t ? sum(t->left) * 3 + t->key + sum(t->right) : 1; }
int main(void) {
	unsigned s = 1;
	for (int i = 0; i < 800; i++) {
		unsigned k = (s = s * 1103515245 + 12345) >> 20;
		if (find(k)) continue;
		struct node *n = calloc(1, sizeof *n);
		n->key = k;
		n->next = bucket[hash(k)];
		bucket[hash(k)] = n;
		plant(&root, n);
	}
	printf("%u %lu\n", depth(root), sum(root));
	return 0;
}
