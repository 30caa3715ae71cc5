// The C client of NATS. Debian: libnats-dev.
#pragma once
#include <nats/nats.h>
