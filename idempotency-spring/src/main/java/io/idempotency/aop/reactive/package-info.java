/**
 * The door of methods that give publishers, or futures to threads that must not block.
 */
@NullMarked
package io.idempotency.aop.reactive;

import org.jspecify.annotations.NullMarked;
