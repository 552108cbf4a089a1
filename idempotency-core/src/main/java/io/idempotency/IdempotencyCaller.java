package io.idempotency;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A caller in a lookup of records. Describe the caller exactly as in the guarded call: a
 * principal with an issuer differs from the same principal without an issuer.
 * <p>
 * Immutable.
 *
 * @param type how the caller is identified
 * @param name the name or the id, empty for a caller without a name
 * @param qualities the qualities that distinguish callers of the same name: the issuer or
 * the registration, then the headers of {@code idempotency.http.scope-headers} in the
 * order of their names
 * @since 0.1.0
 */
public record IdempotencyCaller(Type type, String name, List<Quality> qualities) {

	/**
	 * Validates the components.
	 */
	public IdempotencyCaller {
		Objects.requireNonNull(type, "type");
		Objects.requireNonNull(name, "name");
		qualities = List.copyOf(qualities);
		boolean named = type == Type.PRINCIPAL || type == Type.SCOPE || type == Type.ID;
		if (named == name.isEmpty()) {
			throw new IllegalArgumentException("A caller of type " + type + (named ? " has a name" : " has no name"));
		}
		if (type == Type.ID && !qualities.isEmpty()) {
			throw new IllegalArgumentException("A caller id cannot have an issuer or a registration");
		}
	}

	/**
	 * Returns the caller of keys without a caller: business keys and, with
	 * {@code idempotency.scope=global}, the keys of requests.
	 * @return no caller
	 */
	public static IdempotencyCaller none() {
		return new IdempotencyCaller(Type.NONE, "", List.of());
	}

	/**
	 * Returns the caller of all requests without a principal.
	 * @return the anonymous caller
	 */
	public static IdempotencyCaller anonymous() {
		return new IdempotencyCaller(Type.ANONYMOUS, "", List.of());
	}

	/**
	 * Returns the caller with this principal name.
	 * @param name the name
	 * @return the caller
	 */
	public static IdempotencyCaller principal(String name) {
		return new IdempotencyCaller(Type.PRINCIPAL, name, List.of());
	}

	/**
	 * Returns the caller for a scope: the attribute {@code scope} of {@link Idempotent},
	 * the scope of a template call, or an {@code IdempotencyScopeResolver}. For a message
	 * listener without a scope, the scope is the kind of the listener, a colon, and the
	 * name of its consumer group, queue or subscription.
	 * @param scope the scope
	 * @return the caller
	 */
	public static IdempotencyCaller scope(String scope) {
		return new IdempotencyCaller(Type.SCOPE, scope, List.of());
	}

	/**
	 * Returns the caller with the caller id of a record.
	 * @param callerId the {@link IdempotencyRecord#callerId()}
	 * @return the caller
	 */
	public static IdempotencyCaller id(String callerId) {
		return new IdempotencyCaller(Type.ID, callerId, List.of());
	}

	/**
	 * Returns this caller with the issuer of its token.
	 * @param issuer the claim {@code iss} of a JWT or of an opaque token
	 * @return the caller
	 */
	public IdempotencyCaller issuedBy(String issuer) {
		return with("issuer", List.of(issuer));
	}

	/**
	 * Returns this caller with the client registration of its login.
	 * @param registration the id of the registration
	 * @return the caller
	 */
	public IdempotencyCaller registeredWith(String registration) {
		return with("registration", List.of(registration));
	}

	/**
	 * Returns this caller with a header of {@code idempotency.http.scope-headers}. Add
	 * several headers in the order of their names.
	 * @param header the name, written as in the property
	 * @param values the values, empty for a missing header
	 * @return the caller
	 */
	public IdempotencyCaller withHeader(String header, String... values) {
		return with("header " + header, List.of(values));
	}

	private IdempotencyCaller with(String quality, List<String> values) {
		List<Quality> all = new ArrayList<>(this.qualities);
		all.add(new Quality(quality, values));
		return new IdempotencyCaller(this.type, this.name, all);
	}

	/** Returns the type without the name, which may be personal data. */
	@Override
	public String toString() {
		return this.type.name();
	}

	/** The way a caller is identified. */
	public enum Type {

		/** The key does not belong to a caller. */
		NONE,

		/** The caller has no name. */
		ANONYMOUS,

		/** The name is the name of the request's principal. */
		PRINCIPAL,

		/** The name is a scope. */
		SCOPE,

		/** The name is the caller id in the records of the caller. */
		ID

	}

	/**
	 * A quality that distinguishes a caller from other callers of the same name.
	 *
	 * @param name the name of the quality
	 * @param values the values in their order
	 */
	public record Quality(String name, List<String> values) {

		/**
		 * Copies the values.
		 */
		public Quality {
			values = List.copyOf(values);
		}

		/** Returns the name without the values. */
		@Override
		public String toString() {
			return this.name;
		}

	}

}
