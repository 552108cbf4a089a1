/**
 * The answer on the servlet's response: held back until its record is complete, and
 * written again from what is stored.
 */
@NullMarked
package io.idempotency.web.answer;

import org.jspecify.annotations.NullMarked;
