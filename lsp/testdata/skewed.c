#include <pthread.h>

static pthread_barrier_t meet;
/* "pthread_barrier_wait(" in a comment is none. */
static void *work(void *arg)
{
  if (mine(arg, "🙂🙂")) /* 𝄞 planted */
    spin();

  /* Some lines
   * so that the
   * barrier is
   * where the
   * profile has
   * it: on
   * line 20.
   */


  pthread_barrier_wait(&meet); /* 🎌 */
  return 0;
}

int main(void)
{
  pthread_join(one, 0);
}
