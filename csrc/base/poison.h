/* Hand-made poisoning for the address sanitizer. Spans are single allocations to the sanitizer, so
 * an overrun from one block into the next would go unseen; the arena therefore marks what is not
 * a block's own bytes as forbidden. Everything here is a no-op without the sanitizer. */
#ifndef PZ_BASE_POISON_H
#define PZ_BASE_POISON_H

#if defined(__SANITIZE_ADDRESS__)
#define PZ_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PZ_POISONS 1
#endif
#endif

#ifdef PZ_POISONS
#include <sanitizer/asan_interface.h>
#define PZ_POISON(ptr, bytes) ASAN_POISON_MEMORY_REGION((ptr), (bytes))
#define PZ_UNPOISON(ptr, bytes) ASAN_UNPOISON_MEMORY_REGION((ptr), (bytes))
/* In place of `inline` at the few functions that read and write poisoned bytes on purpose. */
#define PZ_SEES_POISON __attribute__((no_sanitize("address"), noinline, unused))
#else
#define PZ_POISON(ptr, bytes) ((void)(ptr), (void)(bytes))
#define PZ_UNPOISON(ptr, bytes) ((void)(ptr), (void)(bytes))
#define PZ_SEES_POISON inline
#endif

#endif
