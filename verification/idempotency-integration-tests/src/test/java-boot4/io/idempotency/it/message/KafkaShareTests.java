package io.idempotency.it.message;

import java.util.Map;

import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.messaging.IdempotencyMessagingAutoConfiguration;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ShareKafkaListenerContainerFactory;
import org.springframework.kafka.core.DefaultShareConsumerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The container of a share group would reject a record whose first call still runs.
 */
class KafkaShareTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(IdempotencyAutoConfiguration.class, IdempotencyMessagingAutoConfiguration.class))
		.withUserConfiguration(ShareConfiguration.class)
		.withPropertyValues("idempotency.store=memory");

	@Test
	void guardedListenerOfAShareGroupIsRejected() {
		this.runner.withUserConfiguration(Guarded.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("Guarded#on(String)")
				.hasMessageContaining("belongs to a share group"));
		this.runner.withUserConfiguration(Unguarded.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Configuration(proxyBeanMethods = false)
	@EnableKafka
	static class ShareConfiguration {

		@Bean
		ShareKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory() {
			ShareKafkaListenerContainerFactory<String, String> factory = new ShareKafkaListenerContainerFactory<>(
					new DefaultShareConsumerFactory<>(Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1"),
							new StringDeserializer(), new StringDeserializer(), true));
			factory.setAutoStartup(false);
			return factory;
		}

	}

	static class Guarded {

		@KafkaListener(id = "orders", topics = "orders")
		@Idempotent("#order")
		public void on(String order) {
		}

	}

	static class Unguarded {

		@KafkaListener(id = "orders", topics = "orders")
		public void on(String order) {
		}

	}

}
