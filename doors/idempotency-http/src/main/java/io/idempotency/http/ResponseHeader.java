package io.idempotency.http;

import java.util.List;

import io.idempotency.Internal;

/**
 * A header of a stored answer.
 *
 * @param replaces whether the header replaces the values that outer filters have set, or
 * is added to them
 * @param values its values, not empty
 * @hidden
 */
@Internal
public record ResponseHeader(String name, boolean replaces, List<String> values) {

}
