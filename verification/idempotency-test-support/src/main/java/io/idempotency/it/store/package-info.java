/**
 * What is asked of every store on real servers, as nodes of an application use it.
 */
@NullMarked
package io.idempotency.it.store;

import org.jspecify.annotations.NullMarked;
