/**
 * A cache of finished results in the memory of the application:
 * {@link io.idempotency.store.nearcache.NearCacheIdempotencyStore}. Needs Caffeine.
 */
@NullMarked
package io.idempotency.store.nearcache;

import org.jspecify.annotations.NullMarked;
