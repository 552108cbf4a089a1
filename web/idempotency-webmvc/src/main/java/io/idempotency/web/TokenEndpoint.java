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
 * Responds to a POST with a token for its caller: 201 and
 * {@code {"token":"…","expiresAt":"…"}}. The response must not be cached. Thread-safe.
 * <p>
 * The endpoint is mapped like a controller method, so security, interceptors and CORS
 * settings of the application apply. It does not need a message converter or body advice.
 * <p>
 * Every request creates one record in the store. An unused token keeps its record until
 * it expires. Except in the memory store, only the expiration limits the number of unused
 * tokens. An application that issues tokens to anonymous callers must therefore limit the
 * request rate of each client.
 */
final class TokenEndpoint {

	private static final Method ISSUE = ClassUtils.getMethod(TokenEndpoint.class, "issue", HttpServletRequest.class,
			HttpServletResponse.class);

	private final IdempotencyTokens tokens;

	private final WebMvcCallerResolver callerResolver;

	/**
	 * Creates the endpoint.
	 * @param tokens issues the tokens
	 * @param callerResolver determines the callers
	 */
	TokenEndpoint(IdempotencyTokens tokens, WebMvcCallerResolver callerResolver) {
		this.tokens = tokens;
		this.callerResolver = callerResolver;
	}

	/**
	 * Maps the endpoint. If the application has a handler for a POST to the same path,
	 * the endpoint is not mapped.
	 * @param mapping the mapping, which must already contain the controllers of the
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
