/**
 * What an application answers, logs and tells of its health while its store is away.
 */
@NullMarked
package io.idempotency.proofs.outage;

import org.jspecify.annotations.NullMarked;
