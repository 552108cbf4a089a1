/**
 * Controllers whose entities commit with their record, in a transaction of JPA.
 */
@NullMarked
package io.idempotency.it.jpa;

import org.jspecify.annotations.NullMarked;
