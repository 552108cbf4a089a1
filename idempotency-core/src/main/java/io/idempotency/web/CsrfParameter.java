package io.idempotency.web;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.util.ClassUtils;

/**
 * Knows the parameter in which a page sends the token against forged requests. Spring
 * Security masks the token anew on each page, so its value says nothing about the
 * request.
 */
final class CsrfParameter {

	private static final boolean SPRING_SECURITY = ClassUtils
		.isPresent("org.springframework.security.web.csrf.CsrfToken", CsrfParameter.class.getClassLoader());

	private CsrfParameter() {
	}

	/**
	 * Returns the name of the parameter of a request.
	 * @param request the request
	 * @return the name, {@code null} if Spring Security does not guard the request
	 * against forgery or the client cannot have sent a token
	 */
	static @Nullable String name(HttpServletRequest request) {
		return SPRING_SECURITY ? Token.parameterName(request) : null;
	}

	/** Loaded only if Spring Security is present. */
	private static final class Token {

		static @Nullable String parameterName(HttpServletRequest request) {
			Object token = request.getAttribute(CsrfToken.class.getName());
			return (token instanceof CsrfToken csrf && hasState(request)) ? csrf.getParameterName() : null;
		}

		/**
		 * Returns whether the client may have sent a token. Spring Security creates a
		 * token and a session when it is asked for the name, so it is not asked for a
		 * client without a session and without cookies.
		 */
		private static boolean hasState(HttpServletRequest request) {
			return request.getRequestedSessionId() != null || request.getCookies() != null
					|| request.getSession(false) != null;
		}

	}

}
