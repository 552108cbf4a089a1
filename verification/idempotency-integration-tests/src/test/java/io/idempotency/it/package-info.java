/**
 * The scenarios that must hold on every Boot line. What only one line can compile is in
 * {@code java-boot3} and {@code java-boot4}.
 */
@NullMarked
package io.idempotency.it;

import org.jspecify.annotations.NullMarked;
