/**
 * Which beans get a guard, where it stands among their advice, and what no proxy can
 * guard.
 */
@NullMarked
package io.idempotency.aop.proxy;

import org.jspecify.annotations.NullMarked;
