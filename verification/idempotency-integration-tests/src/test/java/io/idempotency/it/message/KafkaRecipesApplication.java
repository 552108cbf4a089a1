package io.idempotency.it.message;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.messaging.KafkaBackOff;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.EnableKafkaRetryTopic;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultAfterRollbackProcessor;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.util.backoff.FixedBackOff;

/**
 * What the documentation advises with Kafka. Records are in a database, beside orders.
 */
@SpringBootConfiguration
@EnableAutoConfiguration
@EnableKafka
@EnableKafkaRetryTopic
@EnableTransactionManagement
@Import({ Deliveries.class, KafkaRecipes.class, KafkaRecipes.Bookings.class })
class KafkaRecipesApplication {

	private static final List<String> TOPICS = List.of("retried", "poison", "poison-dlt", "in-transaction",
			"sent-in-transaction", "inbox", "outbox", "batch");

	@Bean
	KafkaAdmin kafkaAdmin(EmbeddedKafkaBroker broker) {
		TOPICS.stream().filter((topic) -> !broker.getTopics().contains(topic)).forEach(broker::addTopics);
		return new KafkaAdmin(Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, broker.getBrokersAsString()));
	}

	/** Makes the topics first. */
	@Bean
	ConsumerFactory<String, String> consumerFactory(KafkaAdmin admin, EmbeddedKafkaBroker broker) {
		return new DefaultKafkaConsumerFactory<>(
				Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, broker.getBrokersAsString(),
						ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest", ConsumerConfig.METADATA_MAX_AGE_CONFIG,
						1_000, ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed"),
				new StringDeserializer(), new StringDeserializer());
	}

	@Bean
	@Primary
	KafkaTemplate<String, String> kafkaTemplate(EmbeddedKafkaBroker broker) {
		return new KafkaTemplate<>(producers(broker));
	}

	@Bean
	KafkaTemplate<String, String> transactionalTemplate(EmbeddedKafkaBroker broker) {
		DefaultKafkaProducerFactory<String, String> producers = producers(broker);
		producers.setTransactionIdPrefix("recipes-");
		return new KafkaTemplate<>(producers);
	}

	private static DefaultKafkaProducerFactory<String, String> producers(EmbeddedKafkaBroker broker) {
		return new DefaultKafkaProducerFactory<>(
				Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, broker.getBrokersAsString()), new StringSerializer(),
				new StringSerializer());
	}

	@Bean
	ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory(
			ConsumerFactory<String, String> consumers) {
		return factory(consumers);
	}

	@Bean
	ConcurrentKafkaListenerContainerFactory<String, String> withDeadLetterTopic(
			ConsumerFactory<String, String> consumers, KafkaTemplate<String, String> kafkaTemplate) {
		ConcurrentKafkaListenerContainerFactory<String, String> factory = factory(consumers);
		DefaultErrorHandler handler = new DefaultErrorHandler(new DeadLetterPublishingRecoverer(kafkaTemplate),
				new FixedBackOff(0, 2));
		handler.setBackOffFunction(new KafkaBackOff());
		factory.setCommonErrorHandler(handler);
		return factory;
	}

	@Bean
	ConcurrentKafkaListenerContainerFactory<String, String> inTransactions(ConsumerFactory<String, String> consumers,
			@Qualifier("transactionalTemplate") KafkaTemplate<String, String> transactionalTemplate) {
		ConcurrentKafkaListenerContainerFactory<String, String> factory = factory(consumers);
		factory.getContainerProperties()
			.setKafkaAwareTransactionManager(new KafkaTransactionManager<>(transactionalTemplate.getProducerFactory()));
		DefaultAfterRollbackProcessor<String, String> rollback = new DefaultAfterRollbackProcessor<>(
				new FixedBackOff(0, 2));
		rollback.setBackOffFunction(new KafkaBackOff());
		factory.setAfterRollbackProcessor(rollback);
		return factory;
	}

	private static ConcurrentKafkaListenerContainerFactory<String, String> factory(
			ConsumerFactory<String, String> consumers) {
		ConcurrentKafkaListenerContainerFactory<String, String> factory = new ConcurrentKafkaListenerContainerFactory<>();
		factory.setConsumerFactory(consumers);
		factory.getContainerProperties().setPollTimeout(100);
		return factory;
	}

	@Bean
	ThreadPoolTaskScheduler taskScheduler() {
		return new ThreadPoolTaskScheduler();
	}

	@Bean
	DataSource dataSource() {
		return new SqlDatabase("jdbc:h2:mem:kafka-recipes;DB_CLOSE_DELAY=-1", 0, "").pool(8);
	}

	@Bean
	JdbcTemplate jdbc(DataSource dataSource) {
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		jdbc.execute("create table if not exists orders (id varchar(100) not null)");
		jdbc.execute("create table if not exists outbox (id varchar(100) primary key, message varchar(100) not null)");
		return jdbc;
	}

	@Bean
	@Primary
	JdbcTransactionManager transactionManager(DataSource dataSource) {
		return new JdbcTransactionManager(dataSource);
	}

	@Bean
	DeadLetterList deadLetterList() {
		return new DeadLetterList();
	}

	/** What reached a dead letter topic. */
	static class DeadLetterList {

		final List<String> values = new CopyOnWriteArrayList<>();

	}

}
