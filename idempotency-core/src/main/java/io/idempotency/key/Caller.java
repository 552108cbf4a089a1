package io.idempotency.key;

import java.util.List;
import java.util.Objects;

/**
 * The caller that a key is scoped to. Two callers are equal only if kind and name are
 * equal, so a named caller cannot access the keys of anonymous callers or of a resolved
 * scope.
 *
 * @param kind the source of the name
 * @param name the name, empty for {@link Kind#GLOBAL} and {@link Kind#ANONYMOUS}
 * @since 0.1.0
 */
public record Caller(Kind kind, String name) {

	/** The key does not contain a caller. */
	public static final Caller GLOBAL = new Caller(Kind.GLOBAL, "");

	/** The caller that all anonymous requests share. */
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
	 * Returns the caller for a scope.
	 * @param scope the scope, for example a tenant
	 * @return the caller
	 */
	public static Caller scope(String scope) {
		return new Caller(Kind.SCOPE, scope);
	}

	/**
	 * Returns this caller with an additional quality, which distinguishes it from other
	 * callers of the same name. The new caller is of kind {@link Kind#QUALIFIED}, so a
	 * client cannot create an equal caller by choosing a name.
	 * @param quality the name of the quality, for example {@code issuer}
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
	 * Appends a part with its length, so that different lists of parts never result in
	 * the same text.
	 */
	private static void append(StringBuilder text, String part) {
		text.append(part.length()).append(':').append(part);
	}

	/** Returns the kind without the name, which may be personal data. */
	@Override
	public String toString() {
		return this.kind.name();
	}

	/**
	 * The source of a caller's name. The names of the constants are part of stored keys.
	 * Do not rename a constant.
	 */
	public enum Kind {

		/** The key does not belong to a caller. */
		GLOBAL,

		/** The caller has no name. */
		ANONYMOUS,

		/** The name is the name of the request's principal. */
		PRINCIPAL,

		/**
		 * The name comes from a scope resolver, a scope expression, a template call or a
		 * listener.
		 */
		SCOPE,

		/**
		 * The name consists of another caller and a quality that distinguishes it from
		 * callers of the same name, for example the issuer or a tenant.
		 */
		QUALIFIED

	}

}
