package io.idempotency.http;

import java.security.Principal;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.idempotency.IdempotencyCallerUnknownException;
import io.idempotency.Internal;
import io.idempotency.ScopeMode;
import io.idempotency.interceptor.GuardedMethod.GuardMisconfiguredException;
import io.idempotency.key.Caller;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.BeanUtils;
import org.springframework.security.core.AuthenticatedPrincipal;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.oauth2.client.authentication.OAuth2AuthenticationToken;
import org.springframework.security.oauth2.core.ClaimAccessor;
import org.springframework.security.oauth2.core.OAuth2AuthenticatedPrincipal;
import org.springframework.security.oauth2.server.resource.authentication.AbstractOAuth2TokenAuthenticationToken;
import org.springframework.util.ClassUtils;

/**
 * Determines the caller of a request from its principal and its headers, on both stacks.
 * Thread-safe.
 *
 * @hidden
 */
@Internal
public final class RequestCallerResolver {

	private static final Logger logger = LoggerFactory.getLogger(RequestCallerResolver.class);

	private final ScopeMode mode;

	private final Set<String> headers;

	private final boolean anonymousRejected;

	private final Class<?> resolver;

	/** The logged types whose {@code toString()} is the name of a caller. */
	private final Set<Class<?>> told = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the resolver.
	 * @param resolver the bean type with which applications of the stack determine
	 * callers
	 */
	public RequestCallerResolver(HttpSettings settings, Class<?> resolver) {
		this.resolver = resolver;
		this.mode = settings.scope();
		this.anonymousRejected = settings.anonymousRejected();
		this.headers = new TreeSet<>(settings.scopeHeaders());
	}

	/**
	 * Rejects a request without a principal, if the settings require one.
	 * @throws IdempotencyCallerUnknownException if the request is rejected
	 */
	public void requireKnown(@Nullable Principal principal, String operation) {
		if (this.anonymousRejected && principal == null) {
			throw new IdempotencyCallerUnknownException(operation);
		}
	}

	/**
	 * Returns the caller of a request.
	 * @param values returns the values of a header
	 * @throws IllegalStateException if the principal has no stable name
	 */
	public Caller of(@Nullable Principal principal, Function<String, List<String>> values) {
		Caller caller = (this.mode == ScopeMode.GLOBAL) ? Caller.GLOBAL : byPrincipal(principal);
		for (String header : this.headers) {
			caller = caller.with("header " + header, values.apply(header));
		}
		return caller;
	}

	/**
	 * Returns the caller that a resolver of the application determined.
	 * @param scope the scope that the resolver returned
	 * @throws IllegalStateException if the resolver returned no scope
	 */
	public static Caller scope(Object resolver, @Nullable String scope) {
		if (scope == null || scope.isEmpty()) {
			throw new GuardMisconfiguredException("'" + resolver.getClass().getName()
					+ "' returned no scope, so callers could share keys by mistake. Return a scope, or throw an "
					+ "exception to reject the request", null);
		}
		return Caller.scope(scope);
	}

	private Caller byPrincipal(@Nullable Principal principal) {
		if (principal == null) {
			return Caller.ANONYMOUS;
		}
		Caller caller = Caller.principal(PrincipalNames.require(principal, this.resolver, this.told));
		Voucher voucher = Voucher.of(principal);
		return (voucher != null) ? caller.with(voucher.role(), voucher.names()) : caller;
	}

	/**
	 * Rejects names that do not identify a caller. Many callers may have an empty name.
	 * The identity string of an object differs on each request, whether it is the whole
	 * name or the name contains it. The {@code toString()} of an object with properties
	 * changes with any of them, which is logged.
	 */
	private static final class PrincipalNames {

		/** The format of the default {@link Object#toString()}. */
		private static final Pattern IDENTITY = Pattern.compile("(.+)@[0-9a-f]{1,8}", Pattern.DOTALL);

		/** The same format within a text. Email addresses do not match. */
		private static final Pattern MEMBER = Pattern
			.compile("(?<![\\w$./@-])(\\[+(?:[BCDFIJSZ]|L[\\w$./]+;)|[\\w$./]+)@[0-9a-f]{1,8}(?![\\w@-]|\\.\\w)");

		/**
		 * The {@code toString()} of a record, or a generated one that shows the
		 * properties.
		 */
		private static final Pattern MEMBERS = Pattern.compile("[^=]*[\\[({][^=]+=", Pattern.DOTALL);

		private static final boolean SPRING_SECURITY = ClassUtils
			.isPresent("org.springframework.security.core.Authentication", PrincipalNames.class.getClassLoader());

		private PrincipalNames() {
		}

		/**
		 * Returns the name of a principal.
		 * @throws IllegalStateException if the principal has no stable name
		 */
		static String require(Principal principal, Class<?> resolver, Set<Class<?>> told) {
			@Nullable String name = principal.getName();
			if (name == null || name.isBlank()) {
				throw rejected(principal.getClass(),
						"has no name, so it is not distinguishable from others without a name", resolver);
			}
			Class<?> object = identified(principal, name);
			if (object != null) {
				throw rejected(object,
						"has the identity string of an object as its name, which differs for each request", resolver);
			}
			Object inner = SPRING_SECURITY ? Inner.of(principal) : null;
			if (inner != null && !Inner.isNamed(inner) && name.equals(inner.toString())) {
				requireStable(inner, name, resolver, told);
			}
			return name;
		}

		private static void requireStable(Object object, String text, Class<?> resolver, Set<Class<?>> told) {
			Class<?> type = object.getClass();
			Matcher member = MEMBER.matcher(text);
			while (member.find()) {
				if (isIdentity(member.group(1), type)) {
					throw rejected(type, "has its toString() as its name, which contains the identity string of an "
							+ "object (" + member.group(1) + ") that differs for each request", resolver);
				}
			}
			if (MEMBERS.matcher(text).lookingAt() && told.add(type)) {
				logger.warn("[IDEM-304] The name of callers is the toString() of {}: when one of its properties "
						+ "changes, a retry counts as another caller's request and runs again. Implement "
						+ "AuthenticatedPrincipal or Principal in this type, or declare a {} bean. Logged once for "
						+ "each type.", type.getName(), resolver.getSimpleName());
			}
		}

		/** Returns whether a name is that of an array, a lambda or a loadable class. */
		private static boolean isIdentity(String name, Class<?> type) {
			return name.startsWith("[") || name.contains("$$") || ClassUtils.isPresent(name, type.getClassLoader());
		}

		private static GuardMisconfiguredException rejected(Class<?> type, String problem, Class<?> resolver) {
			return new GuardMisconfiguredException(
					"The caller of the request cannot be identified: the principal (" + type.getName() + ") " + problem
							+ ". Give it a stable name, or declare a bean of type " + resolver.getSimpleName(),
					null);
		}

		/**
		 * Returns the type of the object whose identity string is the name, {@code null}
		 * if the name only looks like such a string.
		 */
		private static @Nullable Class<?> identified(Principal principal, String name) {
			Matcher matcher = IDENTITY.matcher(name);
			if (!matcher.matches()) {
				return null;
			}
			String type = matcher.group(1);
			Object inner = SPRING_SECURITY ? Inner.of(principal) : null;
			if (inner != null && isTypeOf(inner, type)) {
				return inner.getClass();
			}
			return isTypeOf(principal, type) ? principal.getClass() : null;
		}

		private static boolean isTypeOf(Object object, String name) {
			// A text is a chosen name, even if it looks like an identity string.
			Class<?> type = (object instanceof CharSequence) ? null : object.getClass();
			while (type != null && !isNameOf(type, name)) {
				type = (type.getSuperclass() != Object.class) ? type.getSuperclass() : null;
			}
			return type != null;
		}

		private static boolean isNameOf(Class<?> type, String name) {
			return name.equals(type.getName()) || name.equals(type.getSimpleName());
		}

		/**
		 * Finds the object inside a Spring Security authentication, because the name is
		 * the name of that object. Loaded only if Spring Security is present.
		 */
		private static final class Inner {

			static @Nullable Object of(Principal principal) {
				return (principal instanceof Authentication authentication) ? authentication.getPrincipal() : null;
			}

			/**
			 * Returns whether an object has a name or is one, so that its text is not
			 * used.
			 */
			static boolean isNamed(Object object) {
				return object instanceof UserDetails || object instanceof AuthenticatedPrincipal
						|| object instanceof Principal || BeanUtils.isSimpleValueType(object.getClass());
			}

		}

	}

	/**
	 * The party that vouches for the name of a caller. The same name from another voucher
	 * is another caller.
	 *
	 * @param role the role of the voucher for the application
	 * @param name the name of the voucher, {@code null} if a token does not contain it
	 */
	private record Voucher(String role, @Nullable String name) {

		private static final String ISSUER = "issuer";

		private static final String REGISTRATION = "registration";

		/**
		 * The claim that contains the issuer, in a JWT and in an introspection response.
		 */
		private static final String ISSUER_CLAIM = "iss";

		private static final boolean CORE = isPresent("oauth2.core.ClaimAccessor");

		private static final boolean CLIENT = isPresent("oauth2.client.authentication.OAuth2AuthenticationToken");

		private static final boolean RESOURCE_SERVER = isPresent(
				"oauth2.server.resource.authentication.AbstractOAuth2TokenAuthenticationToken");

		/**
		 * Finds the voucher for the name of a principal.
		 * @return the voucher, {@code null} if the application itself vouches for the
		 * name
		 */
		static @Nullable Voucher of(Principal principal) {
			Voucher voucher = CLIENT ? Logins.voucher(principal) : null;
			if (voucher == null && RESOURCE_SERVER) {
				voucher = Tokens.voucher(principal);
			}
			if (voucher == null && CORE) {
				voucher = Claims.voucher(principal);
			}
			return voucher;
		}

		private static boolean isPresent(String type) {
			return ClassUtils.isPresent("org.springframework.security." + type, Voucher.class.getClassLoader());
		}

		private static Voucher issuer(@Nullable Object claim) {
			return new Voucher(ISSUER, (claim != null) ? claim.toString() : null);
		}

		/** Returns the name of the voucher for the key. */
		List<String> names() {
			return (this.name != null) ? List.of(this.name) : List.of();
		}

		/** Loaded only if the login types are present. */
		private static final class Logins {

			static @Nullable Voucher voucher(Principal principal) {
				return (principal instanceof OAuth2AuthenticationToken login)
						? new Voucher(REGISTRATION, login.getAuthorizedClientRegistrationId()) : null;
			}

		}

		/** Loaded only if the resource server types are present. */
		private static final class Tokens {

			static @Nullable Voucher voucher(Principal principal) {
				return (principal instanceof AbstractOAuth2TokenAuthenticationToken<?> token)
						? issuer(token.getTokenAttributes().get(ISSUER_CLAIM)) : null;
			}

		}

		/**
		 * Reads tokens in types of the application. Loaded only if the token types are
		 * present.
		 */
		private static final class Claims {

			static @Nullable Voucher voucher(Principal principal) {
				if (!(principal instanceof Authentication authentication)) {
					return null;
				}
				Voucher voucher = fromClaims(authentication.getPrincipal());
				return (voucher != null) ? voucher : fromClaims(authentication.getCredentials());
			}

			private static @Nullable Voucher fromClaims(@Nullable Object carrier) {
				if (carrier instanceof ClaimAccessor claims) {
					return issuer(claims.getClaims().get(ISSUER_CLAIM));
				}
				return (carrier instanceof OAuth2AuthenticatedPrincipal user)
						? issuer(user.getAttributes().get(ISSUER_CLAIM)) : null;
			}

		}

	}

}
