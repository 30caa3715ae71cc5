// The C client of NATS. Debian: libnats-dev.
#pragma once
#include <nats/nats.h>
#include <stdlib.h>

// Frees what the client has allocated for its caller.
static inline void annals_free(void *memory) { free(memory); }
