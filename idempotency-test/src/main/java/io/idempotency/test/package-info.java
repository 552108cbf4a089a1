/**
 * The test kit: the contract of every store, a clock that stands still until a test moves
 * it, a storm of duplicates, assertions for the answers of guarded requests, and a store
 * that forgets between tests. It needs JUnit Jupiter and AssertJ; the types that use
 * Spring also need Spring.
 */
@NullMarked
package io.idempotency.test;

import org.jspecify.annotations.NullMarked;
