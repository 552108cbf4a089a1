/**
 * The adapter of tools that agents call: the key and the arguments come from the request
 * of the Model Context Protocol, and a rejection is an error that a model can read.
 */
@NullMarked
package io.idempotency.ai;

import org.jspecify.annotations.NullMarked;
