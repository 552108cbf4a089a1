/**
 * The store for services with a Redis:
 * {@link io.idempotency.store.redis.RedisIdempotencyStore}. Needs Spring Data Redis.
 */
@NullMarked
package io.idempotency.store.redis;

import org.jspecify.annotations.NullMarked;
