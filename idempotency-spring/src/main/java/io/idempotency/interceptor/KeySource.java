package io.idempotency.interceptor;

import io.idempotency.Internal;

/**
 * The source of an operation's key.
 *
 * @hidden
 */
@Internal
public sealed interface KeySource {

	/** Returns where a client puts the key, in its words: "… needs a key in …". */
	String place();

	/**
	 * An expression over the arguments, or a function of them.
	 *
	 * @param expression the parsed expression
	 * @hidden
	 */
	record Spel(OperationExpression expression) implements KeySource {

		@Override
		public String place() {
			return "in the values that identify it";
		}

	}

	/**
	 * A request (or message) header.
	 *
	 * @hidden
	 */
	record Header(String name) implements KeySource {

		@Override
		public String place() {
			return "in the header '" + this.name + "'";
		}

	}

	/**
	 * A value of the request body.
	 *
	 * @param pointer a JSON Pointer, or the name of a form field
	 * @hidden
	 */
	record Body(String pointer) implements KeySource {

		@Override
		public String place() {
			return "at '" + this.pointer + "' of its body";
		}

	}

}
