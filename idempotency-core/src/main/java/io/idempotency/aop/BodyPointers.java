package io.idempotency.aop;

import java.util.regex.Pattern;

/** Checks places in a request body: JSON Pointers and names of form fields. */
final class BodyPointers {

	/**
	 * RFC 6901: tokens after slashes, in which a tilde is written as {@code ~0} and a
	 * slash as {@code ~1}.
	 */
	private static final Pattern POINTER = Pattern.compile("(/([^/~]|~[01])*)+");

	private BodyPointers() {
	}

	/**
	 * Checks a place.
	 * @param place a pointer, or the name of a form field
	 * @param attribute the attribute that holds it
	 * @param annotation whose it is
	 * @throws io.idempotency.IdempotencyConfigurationException if nothing can ever be
	 * there
	 */
	static void check(String place, String attribute, IdempotentAnnotation annotation) {
		if (place.startsWith("/")) {
			if (!POINTER.matcher(place).matches()) {
				throw SetupProblem.of(annotation, "its " + attribute + " '" + place + "' is no JSON Pointer (RFC 6901)",
						"Write a pointer such as \"/order/id\", with ~0 for ~ and ~1 for / inside a name, or the "
								+ "name of a form field");
			}
		}
		else if (place.contains("/")) {
			throw SetupProblem.of(annotation,
					"its " + attribute + " '" + place + "' is neither a JSON Pointer (RFC 6901), which begins with a "
							+ "slash, nor the name of a form field",
					"Write \"/" + place + "\"");
		}
	}

}
