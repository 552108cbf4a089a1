/**
 * The rules of HTTP, for every stack: how a guarded request has ended, how its response
 * is stored, and how a rejection is told. Nothing here knows a servlet.
 */
@NullMarked
package io.idempotency.http;

import org.jspecify.annotations.NullMarked;
