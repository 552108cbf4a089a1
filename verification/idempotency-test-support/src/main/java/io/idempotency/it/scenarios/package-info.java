/**
 * The scenarios of HTTP that every stack must show: what is sent and what must come.
 */
@NullMarked
package io.idempotency.it.scenarios;

import org.jspecify.annotations.NullMarked;
