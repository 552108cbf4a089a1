package io.idempotency.http;

import java.util.List;

import io.idempotency.Internal;

/**
 * A header of a stored answer.
 *
 * @param name its name
 * @param replaces whether the header replaces the values that outer filters have set, or
 * is added to them
 * @param values its values, not empty
 * @hidden
 * @since 0.1.0
 */
@Internal
public record ResponseHeader(String name, boolean replaces, List<String> values) {

}
