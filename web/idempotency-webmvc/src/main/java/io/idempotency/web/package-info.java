/**
 * The HTTP adapter for controller methods: a filter wraps request and response, the
 * adapter guards the call of the handler, and the response is captured, replayed or
 * rejected with problem details.
 */
@NullMarked
package io.idempotency.web;

import org.jspecify.annotations.NullMarked;
