/**
 * The test kit: the contract of every store, a clock that stands still until it is moved,
 * a storm of duplicates, assertions for the answers of guarded requests, a store that
 * forgets between tests. JUnit Jupiter and AssertJ; Spring where a type speaks of it.
 */
@NullMarked
package io.idempotency.test;

import org.jspecify.annotations.NullMarked;
