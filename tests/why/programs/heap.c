// SPDX-License-Identifier: MIT
// Blocks of the heap, whose accesses are counted by the place that asked for them.
#include <stdint.h>
#include <stdlib.h>

enum { words = 512, nodes = 40 };
struct node {
  struct node* next;
  uint64_t value;
};

static __attribute__((noinline)) struct node* prepend(struct node* list, uint64_t value) {
  volatile struct node* const node = malloc(sizeof *node);  // planted: nodes
  node->next = list;
  node->value = value;
  return (struct node*)node;
}

int main(void) {
  struct node* list = NULL;
  uint64_t sum = 0;
  volatile uint64_t* array = calloc(words, sizeof *array);  // planted: array
  for (unsigned round = 0; round < 3; ++round)
    for (unsigned n = 0; n < words; ++n) sum += array[n];
  array = realloc((void*)array, 4 * words * sizeof *array);  // planted: grown
  for (unsigned n = 0; n < words; ++n) array[n] = n;
  free((void*)array);
  for (unsigned n = 0; n < nodes; ++n) list = prepend(list, n);
  for (volatile struct node* node = list; node != NULL; node = node->next) sum += node->value;
  while (list != NULL) {
    struct node* const next = ((volatile struct node*)list)->next;
    free(list);
    list = next;
  }
  return sum == 12345;
}
