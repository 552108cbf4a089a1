/**
 * The caller's side against a real server, over a line that loses answers.
 */
@NullMarked
package io.idempotency.proofs.calling;

import org.jspecify.annotations.NullMarked;
