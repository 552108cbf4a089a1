package io.idempotency.messaging;

import io.idempotency.interceptor.MethodAdapter;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.util.ClassUtils;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for guarded Kafka, RabbitMQ and JMS
 * listeners.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnBean(MethodAdapter.class)
@ImportRuntimeHints(IdempotencyMessagingAutoConfiguration.Hints.class)
public final class IdempotencyMessagingAutoConfiguration {

	IdempotencyMessagingAutoConfiguration() {
	}

	@Bean
	ListenerAdapter idempotencyListenerAdapter(MethodAdapter methods, ConfigurableListableBeanFactory beanFactory) {
		return new ListenerAdapter(methods, beanFactory);
	}

	/** Registers the proxies and the members that are read by name. */
	static final class Hints implements RuntimeHintsRegistrar {

		private static final String[] PROXIED = { "com.rabbitmq.client.Channel",
				"org.springframework.amqp.rabbit.connection.ChannelProxy", "jakarta.jms.Session",
				"jakarta.jms.QueueSession", "jakarta.jms.TopicSession", "org.apache.kafka.clients.consumer.Consumer",
				"org.springframework.kafka.support.Acknowledgment" };

		@Override
		public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
			for (String type : PROXIED) {
				if (ClassUtils.isPresent(type, classLoader)) {
					hints.proxies().registerJdkProxy(TypeReference.of(type));
				}
			}
			hints.reflection()
				.registerTypeIfPresent(classLoader, "org.springframework.kafka.listener.ContainerProperties",
						MemberCategory.INVOKE_PUBLIC_METHODS)
				.registerTypeIfPresent(classLoader, "org.springframework.kafka.listener.FailedRecordProcessor",
						(type) -> type.withField("userBackOffFunction"));
		}

	}

}
