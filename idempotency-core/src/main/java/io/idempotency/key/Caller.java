package io.idempotency.key;

import java.util.List;
import java.util.Objects;

/**
 * Whose key it is, beside the operation. Two callers are the same only if kind and name
 * are equal, so that no named caller can reach the anonymous space or a resolved scope.
 *
 * @param kind where the name comes from
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
	 * The caller with this principal name.
	 * @param name the name
	 * @return the caller
	 */
	public static Caller principal(String name) {
		return new Caller(Kind.PRINCIPAL, name);
	}

	/**
	 * The caller that a scope resolver or scope expression named.
	 * @param scope the scope, e.g. a tenant
	 * @return the caller
	 */
	public static Caller scope(String scope) {
		return new Caller(Kind.SCOPE, scope);
	}

	/**
	 * This caller, told apart from its namesakes by one thing more. The name that comes
	 * of it can be told by its kind from every name that somebody chose.
	 * @param quality what tells it apart, e.g. {@code issuer}
	 * @param values of the quality, in their order; none differs from every value
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

	/** Each with its length, so that no two lists of parts are one text. */
	private static void append(StringBuilder text, String part) {
		text.append(part.length()).append(':').append(part);
	}

	/** Never prints the name: it may be a person's. */
	@Override
	public String toString() {
		return this.kind.name();
	}

	/**
	 * Where the name of a caller comes from. The names are part of stored keys: never
	 * rename a constant.
	 */
	public enum Kind {

		/** No caller. */
		GLOBAL,

		/** A caller without a name. */
		ANONYMOUS,

		/** The name of the request's principal. */
		PRINCIPAL,

		/** A scope resolver or expression. */
		SCOPE,

		/**
		 * Another kind, and what tells the caller from its namesakes: who vouches for the
		 * name, a tenant.
		 */
		QUALIFIED

	}

}
