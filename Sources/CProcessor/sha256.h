// SHA-256 by the instructions that most x86-64 processors have for it, which Swift has no words for.
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

// Whether this processor has the instructions.
static inline int annals_sha256_is_built_in(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
  const unsigned ssse3 = 1u << 9, sse41 = 1u << 19;
  if ((c & ssse3) == 0 || (c & sse41) == 0) return 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
  return (b >> 29) & 1;
}

// Adds `count` blocks of 64 bytes to the eight words of `state`; `constants` are the 64 of FIPS 180-4.
// Only where `annals_sha256_is_built_in`.
__attribute__((target("sha,sse4.1,ssse3")))
static inline void annals_sha256_add(
    uint32_t *state, const uint8_t *blocks, size_t count, const uint32_t *constants) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  // The instructions keep words a, b, e, f in one register, and c, d, g, h in another.
  __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xB1);
  __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1B);
  __m128i abef = _mm_alignr_epi8(low, high, 8);
  __m128i cdgh = _mm_blend_epi16(high, low, 0xF0);
  for (; count; count--, blocks += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i words[4];
    for (int i = 0; i < 4; i++)
      words[i] = _mm_shuffle_epi8(
          _mm_loadu_si128((const __m128i *)(blocks + 16 * i)), big_endian);
    for (int i = 0; i < 16; i++) {
      if (i >= 4) {
        __m128i next = _mm_sha256msg1_epu32(words[i & 3], words[(i + 1) & 3]);
        next = _mm_add_epi32(
            next, _mm_alignr_epi8(words[(i + 3) & 3], words[(i + 2) & 3], 4));
        words[i & 3] = _mm_sha256msg2_epu32(next, words[(i + 3) & 3]);
      }
      const __m128i sum = _mm_add_epi32(
          words[i & 3], _mm_loadu_si128((const __m128i *)(constants + 4 * i)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  low = _mm_shuffle_epi32(abef, 0x1B);
  high = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(low, high, 0xF0));
  _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(high, low, 8));
}
#else
static inline int annals_sha256_is_built_in(void) { return 0; }

static inline void annals_sha256_add(
    uint32_t *state, const uint8_t *blocks, size_t count, const uint32_t *constants) {}
#endif
