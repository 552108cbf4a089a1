/**
 * Auto-configuration for the tools of agents, where the application has Spring AI or the
 * Model Context Protocol.
 */
@NullMarked
package io.idempotency.autoconfigure.ai;

import org.jspecify.annotations.NullMarked;
