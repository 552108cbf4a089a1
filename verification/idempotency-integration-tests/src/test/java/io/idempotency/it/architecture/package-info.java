/**
 * The layers of the published modules, read where all of them are on the class path.
 */
@NullMarked
package io.idempotency.it.architecture;

import org.jspecify.annotations.NullMarked;
