package io.idempotency.http;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

import io.idempotency.Internal;
import io.idempotency.IssuedToken;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;

/**
 * The response and the path of the endpoint that issues tokens.
 *
 * @hidden
 */
@Internal
public final class TokenResponse {

	private static final Logger logger = LoggerFactory.getLogger(TokenResponse.class);

	private TokenResponse() {
	}

	/** Returns the body, which is JSON. */
	public static byte[] body(IssuedToken issued) {
		return new FlatJson().add("token", issued.token())
			.add("expiresAt", issued.expiresAt().toString())
			.toString()
			.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Returns whether the application has a handler for a POST to the path of the
	 * endpoint. In that case the endpoint is not mapped, which is logged.
	 * @param <T> the type of the mappings of a stack
	 * @param handlers the handlers of the application
	 * @param paths returns the paths without patterns
	 * @param methods returns the methods, empty for all
	 */
	public static <T> boolean isGivenBy(Map<T, HandlerMethod> handlers, Function<T, Set<String>> paths,
			Function<T, Set<RequestMethod>> methods, String path) {
		for (Map.Entry<T, HandlerMethod> mapped : handlers.entrySet()) {
			Set<RequestMethod> answered = methods.apply(mapped.getKey());
			if (paths.apply(mapped.getKey()).contains(path)
					&& (answered.isEmpty() || answered.contains(RequestMethod.POST))) {
				logger.info("Tokens are not issued at '{}', because the application maps this path to {}. To use "
						+ "both, change idempotency.token.path", path, mapped.getValue());
				return true;
			}
		}
		return false;
	}

}
