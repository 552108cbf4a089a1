/**
 * Finished results near those who ask for them:
 * {@link io.idempotency.store.nearcache.NearCacheIdempotencyStore}. Needs Caffeine.
 */
@NullMarked
package io.idempotency.store.nearcache;

import org.jspecify.annotations.NullMarked;
