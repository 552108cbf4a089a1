package io.idempotency.autoconfigure;

import java.security.Principal;
import java.util.List;

import io.idempotency.Idempotent;
import io.idempotency.interceptor.CallRoot;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/**
 * Registers the resources and types that the library needs in a native image: the scripts
 * of its stores, the root object of expressions, and the types whose presence it checks
 * by name. The guarded methods of the application are registered for each bean while
 * beans are processed ahead of time.
 */
final class IdempotencyRuntimeHints implements RuntimeHintsRegistrar {

	/**
	 * The types whose presence is checked by name. In a native image, a type without a
	 * hint counts as absent even if its jar is present.
	 */
	static final List<String> ASKED_FOR = List.of("jakarta.validation.ConstraintViolationException",
			"org.springframework.transaction.PlatformTransactionManager",
			"org.springframework.transaction.support.TransactionSynchronizationManager",
			"org.springframework.web.ErrorResponse", "org.springframework.web.bind.annotation.ResponseStatus",
			"org.springframework.security.access.AccessDeniedException",
			"org.springframework.security.core.Authentication",
			"org.springframework.security.core.context.ReactiveSecurityContextHolder",
			"org.springframework.security.authentication.AnonymousAuthenticationToken",
			"org.springframework.transaction.reactive.TransactionSynchronizationManager",
			"org.springframework.security.web.csrf.CsrfToken", "org.springframework.security.web.server.csrf.CsrfToken",
			"kotlinx.coroutines.reactor.MonoKt", "org.springframework.security.oauth2.core.ClaimAccessor",
			"org.springframework.security.oauth2.client.authentication.OAuth2AuthenticationToken",
			"org.springframework.security.oauth2.server.resource.authentication.AbstractOAuth2TokenAuthenticationToken",
			"tools.jackson.core.JsonParser", "tools.jackson.core.json.JsonFactory",
			"com.fasterxml.jackson.core.JsonParser", "com.fasterxml.jackson.core.JsonFactory",
			"io.lettuce.core.RedisClient", "redis.clients.jedis.Jedis", "com.zaxxer.hikari.HikariDataSource",
			"io.r2dbc.pool.ConnectionPool", "io.r2dbc.spi.R2dbcException",
			"org.springframework.r2dbc.connection.lookup.AbstractRoutingConnectionFactory",
			"org.springframework.jdbc.datasource.ConnectionHolder",
			"org.springframework.r2dbc.connection.ConnectionHolder", "io.idempotency.store.r2dbc.R2dbcIdempotencyStore",
			"org.springframework.transaction.ReactiveTransactionManager",
			"io.micrometer.context.ContextSnapshotFactory", "reactor.netty.http.server.HttpServerResponse",
			"org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping",
			"org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping",
			"org.springframework.web.servlet.function.RouterFunction",
			"org.springframework.web.reactive.function.server.RouterFunction");

	private static final String RESPONSE = "jakarta.servlet.http.HttpServletResponse";

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources()
			.registerPattern("io/idempotency/store/redis/*.lua")
			.registerPattern("io/idempotency/store/sql/schema/*/*.sql");
		hints.proxies().registerJdkProxy(Idempotent.class);
		ReflectionHints reflection = hints.reflection();
		reflection.registerType(CallRoot.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		reflection.registerType(Principal.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		ASKED_FOR.forEach((name) -> reflection.registerTypeIfPresent(classLoader, name, new MemberCategory[0]));
		// The method that Servlet 6.1 added.
		reflection.registerTypeIfPresent(classLoader, RESPONSE, (type) -> type.withMethod("sendRedirect",
				TypeReference.listOf(String.class, int.class, boolean.class), ExecutableMode.INVOKE));
	}

}
