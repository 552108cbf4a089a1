/**
 * The Redis store on real servers.
 */
@NullMarked
package io.idempotency.tests.redis;

import org.jspecify.annotations.NullMarked;
