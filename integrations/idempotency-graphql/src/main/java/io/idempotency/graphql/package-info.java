/**
 * The adapter of fields of GraphQL, for Spring for GraphQL. Without it no class of this
 * package is loaded.
 */
@NullMarked
package io.idempotency.graphql;

import org.jspecify.annotations.NullMarked;
