package io.idempotency.web;

import java.security.Principal;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.security.core.Authentication;
import org.springframework.security.oauth2.client.authentication.OAuth2AuthenticationToken;
import org.springframework.security.oauth2.core.ClaimAccessor;
import org.springframework.security.oauth2.core.OAuth2AuthenticatedPrincipal;
import org.springframework.security.oauth2.server.resource.authentication.AbstractOAuth2TokenAuthenticationToken;
import org.springframework.util.ClassUtils;

/**
 * The party that vouches for the name of a caller. The same name from another voucher is
 * another caller.
 *
 * @param role the role of the voucher for the application
 * @param name the name of the voucher, {@code null} if a token does not name it
 */
record Voucher(String role, @Nullable String name) {

	private static final String ISSUER = "issuer";

	private static final String REGISTRATION = "registration";

	/** The name of the issuer's claim in a JWT and in the answer of an introspection. */
	private static final String ISSUER_CLAIM = "iss";

	private static final boolean CORE = isPresent("oauth2.core.ClaimAccessor");

	private static final boolean CLIENT = isPresent("oauth2.client.authentication.OAuth2AuthenticationToken");

	private static final boolean RESOURCE_SERVER = isPresent(
			"oauth2.server.resource.authentication.AbstractOAuth2TokenAuthenticationToken");

	/**
	 * Finds the voucher for the name of a principal.
	 * @param principal the principal
	 * @return the voucher, {@code null} if the application itself vouches for the name
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

	/** Loaded only if the types of logins are present. */
	private static final class Logins {

		static @Nullable Voucher voucher(Principal principal) {
			return (principal instanceof OAuth2AuthenticationToken login)
					? new Voucher(REGISTRATION, login.getAuthorizedClientRegistrationId()) : null;
		}

	}

	/** Loaded only if the types of a resource server are present. */
	private static final class Tokens {

		static @Nullable Voucher voucher(Principal principal) {
			return (principal instanceof AbstractOAuth2TokenAuthenticationToken<?> token)
					? issuer(token.getTokenAttributes().get(ISSUER_CLAIM)) : null;
		}

	}

	/**
	 * Reads tokens that an application carries in types of its own. Loaded only if the
	 * types of tokens are present.
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
