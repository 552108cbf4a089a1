package io.idempotency.web;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.util.ClassUtils;

/**
 * Knows the parameter in which a page sends the token against forged requests, which
 * Spring Security masks anew on each page: it says nothing about the request.
 */
final class CsrfParameter {

	private static final boolean SPRING_SECURITY = ClassUtils
		.isPresent("org.springframework.security.web.csrf.CsrfToken", CsrfParameter.class.getClassLoader());

	private CsrfParameter() {
	}

	/**
	 * The parameter of a request.
	 * @param request the request
	 * @return its name, {@code null} if nothing guards the request against forgery
	 */
	static @Nullable String name(HttpServletRequest request) {
		return SPRING_SECURITY ? Token.parameterName(request) : null;
	}

	/** Loaded only where Spring Security is. */
	private static final class Token {

		static @Nullable String parameterName(HttpServletRequest request) {
			Object token = request.getAttribute(CsrfToken.class.getName());
			return (token instanceof CsrfToken csrf && hasState(request)) ? csrf.getParameterName() : null;
		}

		/**
		 * To ask for the name makes a token, and a session for it. A client that brings
		 * neither a session nor a cookie has no token to be left out.
		 */
		private static boolean hasState(HttpServletRequest request) {
			return request.getRequestedSessionId() != null || request.getCookies() != null
					|| request.getSession(false) != null;
		}

	}

}
