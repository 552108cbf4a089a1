/**
 * Tests of guarded tools of agents, over the Model Context Protocol and in a process.
 */
@NullMarked
package io.idempotency.it.ai;

import org.jspecify.annotations.NullMarked;
