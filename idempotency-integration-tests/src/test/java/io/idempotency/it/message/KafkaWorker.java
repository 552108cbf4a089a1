package io.idempotency.it.message;

import java.util.Map;
import java.util.concurrent.CountDownLatch;

import javax.sql.DataSource;

import io.idempotency.Idempotent;
import io.idempotency.it.servers.SqlDatabase;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.serialization.StringDeserializer;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;

/** A consumer in a JVM of its own, which is to be killed in the middle of a message. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableKafka
@Import(KafkaWorker.StormListener.class)
class KafkaWorker {

	/** The first consumer of this message never ends. */
	static final String MORTAL = "mortal";

	/** Said by the consumer that does not end. */
	static final String BEGAN = "began";

	static final String DID = "did";

	public static void main(String[] args) {
		new SpringApplicationBuilder(KafkaWorker.class).web(WebApplicationType.NONE).run(args);
	}

	@Bean
	ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory(
			@Value("${test.brokers}") String brokers) {
		ConcurrentKafkaListenerContainerFactory<String, String> factory = new ConcurrentKafkaListenerContainerFactory<>();
		factory.setConsumerFactory(new DefaultKafkaConsumerFactory<>(
				Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers, ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
						"earliest", ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, 3_000,
						ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, 500),
				new StringDeserializer(), new StringDeserializer()));
		return factory;
	}

	@Bean
	@ConditionalOnProperty(name = "idempotency.store", havingValue = "jdbc")
	DataSource dataSource(@Value("${test.database.url}") String url, @Value("${test.database.user}") String user) {
		return new SqlDatabase(url, 0, user).pool(4);
	}

	@Bean
	@ConditionalOnProperty(name = "idempotency.store", havingValue = "jdbc")
	EffectLog effectsInTheDatabase(DataSource dataSource) {
		return new JdbcEffectLog(new JdbcTemplate(dataSource));
	}

	@Bean
	@ConditionalOnProperty(name = "idempotency.store", havingValue = "redis")
	EffectLog effectsInRedis(StringRedisTemplate redis) {
		return new RedisEffectLog(redis);
	}

	static class StormListener {

		private final EffectLog effects;

		private final String node;

		StormListener(EffectLog effects, @Value("${test.node}") String node) {
			this.effects = effects;
			this.node = node;
		}

		@KafkaListener(topics = "${test.topic}", groupId = "${test.topic}")
		@Idempotent(key = "#payload", lease = "5s")
		public void on(String payload) throws InterruptedException {
			if (payload.equals(MORTAL) && this.effects.lines().stream().noneMatch((line) -> line.contains(BEGAN))) {
				this.effects.add(this.node + " " + BEGAN + " " + payload);
				new CountDownLatch(1).await();
			}
			this.effects.add(this.node + " " + DID + " " + payload);
		}

	}

}
