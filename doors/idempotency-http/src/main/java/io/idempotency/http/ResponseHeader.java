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

	/** Returns whether one of the headers has a name, in whatever case. */
	public static boolean isIn(List<ResponseHeader> headers, String name) {
		for (ResponseHeader header : headers) {
			if (header.name.equalsIgnoreCase(name)) {
				return true;
			}
		}
		return false;
	}

}
