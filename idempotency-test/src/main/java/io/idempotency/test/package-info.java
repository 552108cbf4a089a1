/**
 * The test kit: the contract of every store, a clock that stands still until it is moved,
 * a storm of duplicates. JUnit Jupiter and AssertJ.
 */
@NullMarked
package io.idempotency.test;

import org.jspecify.annotations.NullMarked;
