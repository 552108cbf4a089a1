/**
 * Listeners of JMS.
 */
@NullMarked
package io.idempotency.message.jms;

import org.jspecify.annotations.NullMarked;
