package io.idempotency.it.message;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CompletableFuture;

import io.idempotency.Idempotent;
import io.idempotency.it.random.Seed;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A thousand messages, each delivered three times in any order to two applications that
 * share a Redis, have a thousand effects.
 */
class KafkaStormTests {

	private static final int MESSAGES = 1000;

	private static final int DELIVERIES = 3;

	private static final int PARTITIONS = 2;

	private static final String NAME = "storm";

	private static final ConcurrentMap<String, Integer> EFFECTS = new ConcurrentHashMap<>();

	@Test
	void eachMessageHasOneEffect() throws Exception {
		Random random = Seed.random(KafkaStormTests.class);
		try (RedisServer redis = RedisServer.start(RedisBinary.REDIS_6_2);
				Admin admin = Admin.create(Map.of("bootstrap.servers", KafkaServer.broker().getBrokersAsString()))) {
			admin.createTopics(List.of(new NewTopic(NAME, PARTITIONS, (short) 1))).all().get();
			try (ConfigurableApplicationContext one = start(redis);
					ConfigurableApplicationContext other = start(redis)) {
				send(random);
				Awaitility.await()
					.atMost(Duration.ofMinutes(1))
					.untilAsserted(() -> assertThat(processed(admin)).isEqualTo(MESSAGES * DELIVERIES));
				assertThat(other.isActive() && one.isActive()).isTrue();
			}
		}
		assertThat(EFFECTS).hasSize(MESSAGES);
		assertThat(EFFECTS.values()).containsOnly(1);
	}

	private static void send(Random random) {
		List<String> deliveries = new ArrayList<>();
		for (int i = 0; i < MESSAGES * DELIVERIES; i++) {
			deliveries.add("message-" + i % MESSAGES);
		}
		Collections.shuffle(deliveries, random);
		DefaultKafkaProducerFactory<String, String> producers = new DefaultKafkaProducerFactory<>(
				Map.of("bootstrap.servers", KafkaServer.broker().getBrokersAsString()), new StringSerializer(),
				new StringSerializer());
		try {
			KafkaTemplate<String, String> kafka = new KafkaTemplate<>(producers);
			CompletableFuture
				.allOf(deliveries.stream()
					.map((delivery) -> kafka.send(NAME, random.nextInt(PARTITIONS), null, delivery))
					.toArray(CompletableFuture[]::new))
				.join();
		}
		finally {
			producers.destroy();
		}
	}

	private static long processed(Admin admin) throws Exception {
		return admin.listConsumerGroupOffsets(NAME)
			.partitionsToOffsetAndMetadata()
			.get()
			.values()
			.stream()
			.mapToLong(OffsetAndMetadata::offset)
			.sum();
	}

	private static ConfigurableApplicationContext start(RedisServer redis) {
		return new SpringApplicationBuilder(StormApplication.class).web(WebApplicationType.NONE)
			.properties("idempotency.store=redis", "spring.main.banner-mode=off")
			.run("--idempotency.store=redis", "--spring.data.redis.host=127.0.0.1",
					"--spring.data.redis.port=" + redis.port());
	}

	@SpringBootConfiguration
	@EnableAutoConfiguration
	@EnableKafka
	@Import(StormListener.class)
	static class StormApplication {

		@Bean
		ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory() {
			ConcurrentKafkaListenerContainerFactory<String, String> factory = new ConcurrentKafkaListenerContainerFactory<>();
			factory
				.setConsumerFactory(
						new DefaultKafkaConsumerFactory<>(
								Map.of("bootstrap.servers", KafkaServer.broker().getBrokersAsString(),
										"auto.offset.reset", "earliest"),
								new StringDeserializer(), new StringDeserializer()));
			return factory;
		}

	}

	static class StormListener {

		@KafkaListener(topics = NAME, groupId = NAME)
		@Idempotent("#payload")
		public void on(String payload) {
			EFFECTS.merge(payload, 1, Integer::sum);
		}

	}

}
