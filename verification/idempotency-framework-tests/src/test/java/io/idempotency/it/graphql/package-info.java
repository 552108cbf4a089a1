/**
 * Tests of guarded mutations of Spring for GraphQL.
 */
@NullMarked
package io.idempotency.it.graphql;

import org.jspecify.annotations.NullMarked;
