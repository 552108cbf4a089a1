package io.idempotency.web;

import java.util.List;

/**
 * A header of a stored answer.
 *
 * @param name its name
 * @param replaces whether the header replaces the values that outer filters have set, or
 * is added to them
 * @param values its values, not empty
 */
record ResponseHeader(String name, boolean replaces, List<String> values) {

}
