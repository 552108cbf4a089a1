/** For those who operate an application: its records, and the tokens it hands out. */
@NullMarked
package io.idempotency.operators;

import org.jspecify.annotations.NullMarked;
