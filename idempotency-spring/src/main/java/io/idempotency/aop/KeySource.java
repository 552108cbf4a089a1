package io.idempotency.aop;

import io.idempotency.Internal;

/**
 * The source of an operation's key.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public sealed interface KeySource {

	/**
	 * An expression over the arguments.
	 *
	 * @param expression the parsed expression
	 * @hidden
	 */
	record Spel(OperationExpression expression) implements KeySource {
	}

	/**
	 * A request (or message) header.
	 *
	 * @param name the name of the header
	 * @hidden
	 */
	record Header(String name) implements KeySource {
	}

	/**
	 * A value of the request body.
	 *
	 * @param pointer a JSON Pointer, or the name of a form field
	 * @hidden
	 */
	record Body(String pointer) implements KeySource {
	}

}
