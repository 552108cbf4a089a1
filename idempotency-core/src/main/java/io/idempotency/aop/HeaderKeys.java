package io.idempotency.aop;

import java.util.List;

import io.idempotency.IdempotencyKeyInvalidException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the key out of the lines of a header. Thread-safe.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface HeaderKeys {

	/**
	 * Reads the key.
	 * @param operation name of the operation, for the exception
	 * @param lines the values of the header, one for each line that was sent
	 * @return the key, {@code null} if there is no such header
	 * @throws IdempotencyKeyInvalidException if the header is malformed
	 */
	@Nullable String parse(String operation, List<String> lines);

}
