package io.idempotency.web;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;

import io.idempotency.IdempotencyTokens;
import io.idempotency.IssuedToken;
import io.idempotency.NotIdempotent;
import io.idempotency.http.TokenResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * Answers a POST with a token for its caller: 201 and
 * {@code {"token":"…","expiresAt":"…"}}, never to be cached. Thread-safe.
 * <p>
 * The endpoint is mapped like a method of a controller, so security, interceptors and
 * CORS of the application apply to it. It needs no message converter and no body advice.
 * Every request takes one record of the store. An unused token keeps its record until it
 * expires. Apart from the memory store, only that expiry limits the number of unused
 * tokens, so an application that lets everybody ask for tokens must limit how often a
 * client may ask.
 */
final class TokenEndpoint {

	private static final Method ISSUE = ClassUtils.getMethod(TokenEndpoint.class, "issue", HttpServletRequest.class,
			HttpServletResponse.class);

	private final IdempotencyTokens tokens;

	private final HttpCallerResolver callerResolver;

	/**
	 * Creates the endpoint.
	 * @param tokens issues the tokens
	 * @param callerResolver knows who may have one
	 */
	TokenEndpoint(IdempotencyTokens tokens, HttpCallerResolver callerResolver) {
		this.tokens = tokens;
		this.callerResolver = callerResolver;
	}

	/**
	 * Maps the endpoint. If the application has a handler of its own for a POST to the
	 * same path, that handler answers and the endpoint is not mapped.
	 * @param mapping the mapping, which must already know the controllers of the
	 * application
	 * @param path the path below the servlet
	 */
	void register(RequestMappingHandlerMapping mapping, String path) {
		if (TokenResponse.isGivenBy(mapping.getHandlerMethods(), RequestMappingInfo::getDirectPaths,
				(info) -> info.getMethodsCondition().getMethods(), path)) {
			return;
		}
		mapping.registerMapping(RequestMappingInfo.paths(path)
			.methods(RequestMethod.POST)
			.options(mapping.getBuilderConfiguration())
			.build(), this, ISSUE);
	}

	/**
	 * Issues a token for the caller of the current request.
	 * @throws IOException if it could not be sent
	 */
	@Reflective
	@NotIdempotent("Each request issues another token")
	public void issue(HttpServletRequest request, HttpServletResponse response) throws IOException {
		this.callerResolver.owner(request, "token");
		IssuedToken issued = this.tokens.issue();
		response.setStatus(HttpServletResponse.SC_CREATED);
		response.setHeader("Cache-Control", "no-store");
		response.setContentType("application/json");
		ResponseReplay.sendBody(response, ByteBuffer.wrap(TokenResponse.body(issued)), -1);
	}

}
