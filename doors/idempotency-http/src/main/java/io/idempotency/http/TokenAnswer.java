package io.idempotency.http;

import java.nio.charset.StandardCharsets;
import java.util.Set;

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
public final class TokenAnswer {

	private static final Logger logger = LoggerFactory.getLogger(TokenAnswer.class);

	private TokenAnswer() {
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
	 * @param paths the paths of the handler that are no patterns
	 * @param methods its methods, none for all
	 */
	public static boolean isGivenBy(HandlerMethod handler, Set<String> paths, Set<RequestMethod> methods, String path) {
		boolean given = paths.contains(path) && (methods.isEmpty() || methods.contains(RequestMethod.POST));
		if (given) {
			logger.info("Tokens are not issued at '{}': the application answers there itself, by {}. To have both, "
					+ "change idempotency.token.path", path, handler);
		}
		return given;
	}

}
