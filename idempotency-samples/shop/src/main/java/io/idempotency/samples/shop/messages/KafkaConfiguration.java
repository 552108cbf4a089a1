package io.idempotency.samples.shop.messages;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import io.idempotency.messaging.KafkaBackOff;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.ProducerRecord;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.util.backoff.FixedBackOff;

/**
 * Orders over Kafka: that of {@code spring.kafka.bootstrap-servers}, or else one inside
 * the shop.
 */
@Configuration(proxyBeanMethods = false)
@Profile("kafka")
@Import(KafkaOrders.class)
class KafkaConfiguration {

	private static final long PATIENCE_SECONDS = 10;

	@Bean
	static EmbeddedKafka embeddedKafka(ConfigurableEnvironment environment) {
		return new EmbeddedKafka(environment);
	}

	@Bean
	KafkaAdmin.NewTopics topics() {
		return new KafkaAdmin.NewTopics(topic(OrderMessage.ORDER_PLACED), topic(OrderMessage.ORDER_PLACED + "-dlt"));
	}

	private static NewTopic topic(String name) {
		return TopicBuilder.name(name).partitions(1).replicas(1).build();
	}

	/**
	 * A record that cannot be processed becomes a dead letter after ten attempts. A
	 * record whose first delivery is in progress, or whose store is unavailable, is
	 * delivered again without a limit.
	 */
	@Bean
	DefaultErrorHandler kafkaErrorHandler(KafkaTemplate<?, ?> kafka) {
		DefaultErrorHandler handler = new DefaultErrorHandler(new DeadLetterPublishingRecoverer(kafka),
				new FixedBackOff(1_000, 9));
		handler.setBackOffFunction(new KafkaBackOff());
		return handler;
	}

	/** Comes before the guard, so that it sees duplicates, too. */
	@Bean
	RecordInterceptor<Object, Object> countingDeliveries(Warehouse warehouse) {
		return (received, consumer) -> {
			warehouse.delivered(String.valueOf(received.value()));
			return received;
		};
	}

	@Bean
	OrderPublisher kafkaPublisher(KafkaTemplate<String, String> kafka) {
		return new OrderPublisher() {

			@Override
			public String broker() {
				return "Kafka";
			}

			@Override
			public void publish(OrderMessage message) {
				ProducerRecord<String, String> sent = new ProducerRecord<>(OrderMessage.ORDER_PLACED, message.orderNo(),
						message.orderNo());
				sent.headers().add(OrderMessage.KEY, message.id().getBytes(StandardCharsets.UTF_8));
				kafka.send(sent).orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join();
			}

		};
	}

}
