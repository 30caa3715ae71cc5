// CRC-32 by the carry-less multiplication that most x86-64 processors have, which Swift has no words
// for.
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

// Whether this processor has the instruction.
static inline int annals_crc32_is_built_in(void) {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c >> 1 & 1);
}

// Moves sixteen bytes ahead by the powers in `by`, onto those that lie there.
__attribute__((target("pclmul")))
static inline __m128i annals_crc32_move(__m128i bytes, __m128i by, __m128i onto) {
  const __m128i first = _mm_clmulepi64_si128(bytes, by, 0x00);
  const __m128i second = _mm_clmulepi64_si128(bytes, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(first, second), onto);
}

// Folds bytes to sixteen that have the same checksum when it starts from nothing. `state` is what the
// bytes before them left (the complement of their checksum); `count` is a multiple of 16 from 64 on.
// Only where `annals_crc32_is_built_in`.
//
// Sixteen bytes are a polynomial of 128 coefficients, the first one the highest. To move it n bits
// ahead is to multiply each half with x to the power of the distance that it gets, modulo the
// checksum's polynomial: the numbers are x^(512+32), x^(512-32), x^(128+32), x^(128-32), reflected.
__attribute__((target("pclmul")))
static inline void annals_crc32_fold(
    uint32_t state, const uint8_t *bytes, size_t count, uint8_t *rest) {
  const __m128i by_four = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
  const __m128i by_one = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
  __m128i lanes[4];
  for (int i = 0; i < 4; i++) lanes[i] = _mm_loadu_si128((const __m128i *)(bytes + 16 * i));
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128((int)state));
  bytes += 64;
  count -= 64;
  for (; count >= 64; count -= 64, bytes += 64)
    for (int i = 0; i < 4; i++)
      lanes[i] = annals_crc32_move(
          lanes[i], by_four, _mm_loadu_si128((const __m128i *)(bytes + 16 * i)));
  __m128i all = lanes[0];
  for (int i = 1; i < 4; i++) all = annals_crc32_move(all, by_one, lanes[i]);
  for (; count >= 16; count -= 16, bytes += 16)
    all = annals_crc32_move(all, by_one, _mm_loadu_si128((const __m128i *)bytes));
  _mm_storeu_si128((__m128i *)rest, all);
}
#else
static inline int annals_crc32_is_built_in(void) { return 0; }

static inline void annals_crc32_fold(
    uint32_t state, const uint8_t *bytes, size_t count, uint8_t *rest) {}
#endif
