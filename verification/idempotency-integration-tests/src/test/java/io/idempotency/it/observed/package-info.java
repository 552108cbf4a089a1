/**
 * What a team sees of guarded calls: metrics, health, dashboard and alerts.
 */
@NullMarked
package io.idempotency.it.observed;

import org.jspecify.annotations.NullMarked;
