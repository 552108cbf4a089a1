package io.idempotency.autoconfigure;

import java.security.Principal;
import java.util.List;
import java.util.Map;

import io.idempotency.Idempotent;
import io.idempotency.aop.CallRoot;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.util.ClassUtils;

/**
 * Tells a native image what the library reads and reflects on: the scripts of its stores,
 * the root object of expressions, and the types whose presence it asks for by name.
 * Guarded methods of the application are told bean by bean, while beans are processed
 * ahead of time.
 */
final class IdempotencyRuntimeHints implements RuntimeHintsRegistrar {

	/**
	 * The types whose presence is asked for by name. A native image takes a type without
	 * a hint for absent, even if its jar is there.
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
			"org.apache.kafka.clients.consumer.ConsumerRecord", "org.springframework.amqp.core.Message",
			"jakarta.jms.Message", "org.springframework.messaging.Message",
			"org.springframework.messaging.MessageHeaders", "graphql.schema.DataFetchingEnvironment",
			"io.micrometer.context.ContextSnapshotFactory",
			"org.springframework.kafka.listener.AbstractShareKafkaMessageListenerContainer");

	/** The arguments of listeners that the guard replaces by watched ones. */
	static final List<String> WATCHED = List.of("com.rabbitmq.client.Channel",
			"org.springframework.amqp.rabbit.connection.ChannelProxy", "jakarta.jms.Session",
			"jakarta.jms.QueueSession", "jakarta.jms.TopicSession");

	/** Has properties whose names differ between the lines, so they are read by name. */
	private static final String KAFKA_CONTAINER = "org.springframework.kafka.listener.ContainerProperties";

	/** Do not tell what the guard has to know of them; the fields are read by name. */
	private static final Map<String, List<String>> KAFKA_FIELDS = Map.of(
			"org.springframework.kafka.listener.FailedRecordProcessor",
			List.of("userBackOffFunction", "failureTracker"), "org.springframework.kafka.listener.FailedRecordTracker",
			List.of("noRetries"), "org.springframework.kafka.listener.CommonDelegatingErrorHandler",
			List.of("defaultErrorHandler"), "org.springframework.kafka.listener.CommonMixedErrorHandler",
			List.of("recordErrorHandler"), "org.springframework.kafka.listener.AbstractMessageListenerContainer",
			List.of("consumerFactory"));

	private static final String KAFKA_CONSUMER = "org.apache.kafka.clients.consumer.Consumer";

	private static final String RESPONSE = "jakarta.servlet.http.HttpServletResponse";

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources()
			.registerPattern("io/idempotency/store/redis/*.lua")
			.registerPattern("io/idempotency/store/sql/schema-*.sql");
		hints.proxies().registerJdkProxy(Idempotent.class);
		WATCHED.stream()
			.filter((name) -> ClassUtils.isPresent(name, classLoader))
			.forEach((name) -> hints.proxies().registerJdkProxy(TypeReference.of(name)));
		ReflectionHints reflection = hints.reflection();
		reflection.registerType(CallRoot.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		reflection.registerType(Principal.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		ASKED_FOR.forEach((name) -> reflection.registerTypeIfPresent(classLoader, name, new MemberCategory[0]));
		reflection.registerTypeIfPresent(classLoader, KAFKA_CONTAINER, MemberCategory.INVOKE_PUBLIC_METHODS);
		KAFKA_FIELDS.forEach((name, fields) -> reflection.registerTypeIfPresent(classLoader, name,
				(type) -> fields.forEach(type::withField)));
		if (ClassUtils.isPresent(KAFKA_CONSUMER, classLoader)) {
			hints.proxies().registerJdkProxy(TypeReference.of(KAFKA_CONSUMER));
		}
		// The method that Servlet 6.1 added.
		reflection.registerTypeIfPresent(classLoader, RESPONSE, (type) -> type.withMethod("sendRedirect",
				TypeReference.listOf(String.class, int.class, boolean.class), ExecutableMode.INVOKE));
	}

}
