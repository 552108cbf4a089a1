/**
 * What a client sees: every scenario is posted twice with one key and compared in status,
 * headers, body bytes and number of runs, on MockMvc and on a real Tomcat.
 */
@NullMarked
package io.idempotency.it.http;

import org.jspecify.annotations.NullMarked;
