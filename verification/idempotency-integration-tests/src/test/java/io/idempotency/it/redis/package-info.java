/**
 * The Redis store on real servers.
 */
@NullMarked
package io.idempotency.it.redis;

import org.jspecify.annotations.NullMarked;
