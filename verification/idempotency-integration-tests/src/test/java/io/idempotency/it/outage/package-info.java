/**
 * What an application answers, logs and tells of its health while its store is away.
 */
@NullMarked
package io.idempotency.it.outage;

import org.jspecify.annotations.NullMarked;
