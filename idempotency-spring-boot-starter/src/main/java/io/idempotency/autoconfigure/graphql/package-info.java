/**
 * Wires the door of GraphQL. Without Spring for GraphQL no class of this package is
 * loaded.
 */
@NullMarked
package io.idempotency.autoconfigure.graphql;

import org.jspecify.annotations.NullMarked;
