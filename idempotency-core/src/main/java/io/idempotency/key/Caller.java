package io.idempotency.key;

import java.util.List;
import java.util.Objects;

/**
 * The owner of a key. Two callers are the same only if kind and name are equal, so no
 * named caller can reach the keys of anonymous callers or of a resolved scope.
 *
 * @param kind the source of the name
 * @param name the name, empty for {@link Kind#GLOBAL} and {@link Kind#ANONYMOUS}
 * @since 0.1.0
 */
public record Caller(Kind kind, String name) {

	/** No caller is part of the key. */
	public static final Caller GLOBAL = new Caller(Kind.GLOBAL, "");

	/** The one space that all anonymous callers share. */
	public static final Caller ANONYMOUS = new Caller(Kind.ANONYMOUS, "");

	/**
	 * Validates the components.
	 */
	public Caller {
		Objects.requireNonNull(kind, "kind");
		Objects.requireNonNull(name, "name");
	}

	/**
	 * Returns the caller with this principal name.
	 * @param name the name
	 * @return the caller
	 */
	public static Caller principal(String name) {
		return new Caller(Kind.PRINCIPAL, name);
	}

	/**
	 * Returns the caller that a scope names.
	 * @param scope the scope, e.g. a tenant
	 * @return the caller
	 */
	public static Caller scope(String scope) {
		return new Caller(Kind.SCOPE, scope);
	}

	/**
	 * Returns this caller with one more quality, which tells it apart from other callers
	 * of the same name. The new caller is of kind {@link Kind#QUALIFIED}, so it never
	 * equals a caller whose whole name somebody chose.
	 * @param quality the name of the quality, e.g. {@code issuer}
	 * @param values the values of the quality, in their order; an empty list differs from
	 * every value
	 * @return the caller
	 */
	public Caller with(String quality, List<String> values) {
		StringBuilder qualified = new StringBuilder();
		append(qualified, this.kind.name());
		append(qualified, this.name);
		append(qualified, quality);
		values.forEach((value) -> append(qualified, value));
		return new Caller(Kind.QUALIFIED, qualified.toString());
	}

	/**
	 * Appends a part with its length, so that different lists of parts never give the
	 * same text.
	 */
	private static void append(StringBuilder text, String part) {
		text.append(part.length()).append(':').append(part);
	}

	/** Prints the kind and never the name, which may be the name of a person. */
	@Override
	public String toString() {
		return this.kind.name();
	}

	/**
	 * The source of a caller's name. The names of the constants are part of stored keys:
	 * never rename a constant.
	 */
	public enum Kind {

		/** There is no caller. */
		GLOBAL,

		/** The caller has no name. */
		ANONYMOUS,

		/** The name is that of the request's principal. */
		PRINCIPAL,

		/**
		 * A scope resolver, a scope expression, a template call or a listener gave the
		 * name.
		 */
		SCOPE,

		/**
		 * The name is made of another caller and a quality that tells it apart from
		 * callers of the same name, e.g. the issuer of the name, or a tenant.
		 */
		QUALIFIED

	}

}
