package io.idempotency.it.message;

import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

/** One Kafka for all tests of this JVM; it ends with the JVM. */
final class KafkaServer implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	private static EmbeddedKafkaBroker broker;

	static synchronized EmbeddedKafkaBroker broker() {
		if (broker == null) {
			EmbeddedKafkaKraftBroker started = new EmbeddedKafkaKraftBroker(1, 1);
			started.brokerProperty("offsets.topic.num.partitions", "1");
			started.brokerProperty("group.initial.rebalance.delay.ms", "0");
			// Dead consumers are found out in seconds.
			started.brokerProperty("group.min.session.timeout.ms", "500");
			started.brokerProperty("transaction.state.log.replication.factor", "1");
			started.brokerProperty("transaction.state.log.min.isr", "1");
			started.brokerProperty("transaction.state.log.num.partitions", "1");
			started.afterPropertiesSet();
			Runtime.getRuntime().addShutdownHook(new Thread(started::destroy));
			broker = started;
		}
		return broker;
	}

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		context.getBeanFactory().registerSingleton("kafkaBroker", broker());
	}

}
