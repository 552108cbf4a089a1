/**
 * What a request carries, as far as it is compared or names a key: its content type, its
 * form and its JSON.
 */
@NullMarked
package io.idempotency.http.request;

import org.jspecify.annotations.NullMarked;
