/**
 * Monitoring for operators: the endpoint, health, metrics and observations.
 */
@NullMarked
package io.idempotency.autoconfigure.actuate;

import org.jspecify.annotations.NullMarked;
