/**
 * Test support: the contract of a store, a mutable clock, concurrency tests with
 * duplicates, assertions for the responses to guarded requests, and a store that is
 * cleared between tests. Requires JUnit Jupiter and AssertJ; the types that use Spring
 * also require Spring.
 */
@NullMarked
package io.idempotency.test;

import org.jspecify.annotations.NullMarked;
