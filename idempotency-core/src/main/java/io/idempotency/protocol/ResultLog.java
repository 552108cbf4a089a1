package io.idempotency.protocol;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * Is told why a result could not be kept or read. Thread-safe, and throws nothing.
 *
 * @hidden
 */
@Internal
public interface ResultLog {

	void resultNotStored(String operation, Throwable cause);

	void resultNotEncrypted(String operation, Throwable cause);

	void resultNotDecrypted(String operation, String problem, @Nullable Throwable cause);

}
