package io.idempotency;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The caller whose records an operator looks for. It must be described as the guarded
 * call knew it: a principal with an issuer is another caller than the principal alone.
 * <p>
 * A caller is immutable.
 *
 * @param type how the caller is known
 * @param name the name or the id, empty for a caller without a name
 * @param qualities what tells the caller apart from callers of the same name, in the
 * order of the guarded call: the issuer or the registration, then the headers of
 * {@code idempotency.http.scope-headers} in the order of their names
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
	 * Returns the caller of keys that belong to no caller: business keys and, with
	 * {@code idempotency.scope=global}, the keys of requests.
	 * @return no caller
	 */
	public static IdempotencyCaller none() {
		return new IdempotencyCaller(Type.NONE, "", List.of());
	}

	/**
	 * Returns the one caller that stands for all requests without a principal.
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
	 * Returns the caller that a scope names: the attribute {@code scope} of
	 * {@link Idempotent}, the scope of a template call, or an
	 * {@code IdempotencyScopeResolver}. The keys of a message listener without a scope
	 * have a scope of the kind of the listener, a colon, and the name of its consumer
	 * group, queue or subscription.
	 * @param scope the scope
	 * @return the caller
	 */
	public static IdempotencyCaller scope(String scope) {
		return new IdempotencyCaller(Type.SCOPE, scope, List.of());
	}

	/**
	 * Returns the caller with an id that was seen in a record.
	 * @param callerId the {@link IdempotencyRecord#callerId()}
	 * @return the caller
	 */
	public static IdempotencyCaller id(String callerId) {
		return new IdempotencyCaller(Type.ID, callerId, List.of());
	}

	/**
	 * Returns this caller with the issuer of the token that names it.
	 * @param issuer the claim {@code iss} of a JWT or of an opaque token
	 * @return the caller
	 */
	public IdempotencyCaller issuedBy(String issuer) {
		return with("issuer", List.of(issuer));
	}

	/**
	 * Returns this caller with the client registration of the login that names it.
	 * @param registration the id of the registration
	 * @return the caller
	 */
	public IdempotencyCaller registeredWith(String registration) {
		return with("registration", List.of(registration));
	}

	/**
	 * Returns this caller with a header of {@code idempotency.http.scope-headers}.
	 * Several headers must be given in the order of their names.
	 * @param header the name, written as in the property
	 * @param values the values, none for a header that is missing
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

	/** Prints the type and never the name, which may be the name of a person. */
	@Override
	public String toString() {
		return this.type.name();
	}

	/** How a caller is known. */
	public enum Type {

		/** There is no caller. */
		NONE,

		/** The caller has no name. */
		ANONYMOUS,

		/** The name is that of the request's principal. */
		PRINCIPAL,

		/** The name is a scope. */
		SCOPE,

		/** The name is the id that the records of the caller show. */
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

		/** Prints the name and never the values. */
		@Override
		public String toString() {
			return this.name;
		}

	}

}
