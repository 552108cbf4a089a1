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
 * What the endpoint that issues tokens answers, and where.
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
	 * Returns whether a handler of the application answers where the endpoint would, so
	 * that the endpoint is not mapped. Logs that.
	 * @param <T> how a stack says what is mapped
	 * @param handlers the handlers of the application
	 * @param paths returns the paths that are no patterns
	 * @param methods returns the methods, none for all
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
