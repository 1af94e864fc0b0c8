// SPDX-License-Identifier: MIT
// Two threads compress the halves of a text; the first undoes it and compares.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { half = 600 };

struct piece {
  unsigned char text[half], packed[2 * half], again[half];
  unsigned long packed_bytes;
};

static struct piece pieces[2];

static void* compress_piece(void* pointer) {
  struct piece* const piece = pointer;
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  deflateInit2(&stream, 1, Z_DEFLATED, 9, 1, Z_DEFAULT_STRATEGY);  // small tables
  stream.next_in = piece->text;
  stream.avail_in = sizeof piece->text;
  stream.next_out = piece->packed;
  stream.avail_out = sizeof piece->packed;
  deflate(&stream, Z_FINISH);
  piece->packed_bytes = stream.total_out;
  deflateEnd(&stream);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (int n = 0; n < 2; ++n) {
    for (int at = 0; at < half; ++at)
      pieces[n].text[at] = (unsigned char)("abracadabra"[at * (n + 1) % 11] + at / 97);
    pthread_create(&threads[n], NULL, compress_piece, &pieces[n]);
  }
  int same = 0;
  for (int n = 0; n < 2; ++n) {
    pthread_join(threads[n], NULL);
    unsigned long bytes = half;
    uncompress(pieces[n].again, &bytes, pieces[n].packed, pieces[n].packed_bytes);
    same += memcmp(pieces[n].text, pieces[n].again, half) == 0;
    printf("%d bytes to %lu, checksum %lx\n", half, pieces[n].packed_bytes,
           crc32(0, pieces[n].packed, (unsigned)pieces[n].packed_bytes));
  }
  return same;
}
