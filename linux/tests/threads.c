// SPDX-License-Identifier: MIT
// Tasks that take turns: two threads hand a number to each other, and a child process counts for itself.
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { rounds = 6 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;
static volatile long sums[3];

__attribute__((noinline)) static long work(int who, int amount) {
  return amount == 0 ? who : work(who, amount - 1) + (amount ^ who);
}

static void* take_turns(void* argument) {
  const int who = *(int*)argument;
  for (int i = 0; i < rounds; i++) {
    pthread_mutex_lock(&lock);
    while (turn != who) pthread_cond_wait(&turned, &lock);
    for (int k = 0; k < 20; k++) sums[who] += work(who, 20 + k);
    turn = 1 - who;
    pthread_cond_broadcast(&turned);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  static int zero = 0, one = 1;
  pthread_t other;
  pthread_create(&other, NULL, take_turns, &one);
  take_turns(&zero);
  pthread_join(other, NULL);
  const pid_t child = fork();
  if (child == 0) {
    for (int k = 0; k < 60; k++) sums[2] += work(2, k % 30);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  printf("%ld\n", sums[0] + sums[1]);
  return 0;
}
