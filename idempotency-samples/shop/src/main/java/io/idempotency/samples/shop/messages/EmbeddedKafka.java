package io.idempotency.samples.shop.messages;

import java.util.Map;

import org.apache.kafka.common.utils.Exit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

/**
 * Starts a Kafka inside the shop, unless {@value #SERVERS} names one. It is there before
 * the first bean and until after the last. For demonstrations only: it forgets everything
 * when it stops.
 */
class EmbeddedKafka implements BeanFactoryPostProcessor, DisposableBean {

	private static final Logger logger = LoggerFactory.getLogger(EmbeddedKafka.class);

	private static final String SERVERS = "spring.kafka.bootstrap-servers";

	private final ConfigurableEnvironment environment;

	private @Nullable EmbeddedKafkaBroker broker;

	EmbeddedKafka(ConfigurableEnvironment environment) {
		this.environment = environment;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		if (this.environment.containsProperty(SERVERS)) {
			return;
		}
		EmbeddedKafkaKraftBroker started = new EmbeddedKafkaKraftBroker(1, 1);
		started.brokerProperty("offsets.topic.num.partitions", "1");
		started.brokerProperty("group.initial.rebalance.delay.ms", "0");
		// By default it becomes a system property, which a second shop in this JVM would
		// take for that of a real Kafka.
		started.brokerListProperty(EmbeddedKafkaBroker.SPRING_EMBEDDED_KAFKA_BROKERS);
		// Kafka halts the JVM after a fatal error of the broker. That would end the shop,
		// for example during shutdown.
		Exit.setHaltProcedure((status, message) -> logger.debug("The embedded Kafka broker failed: {}", message));
		this.broker = started;
		started.afterPropertiesSet();
		this.environment.getPropertySources()
			.addLast(new MapPropertySource("embedded Kafka", Map.of(SERVERS, started.getBrokersAsString())));
	}

	@Override
	public void destroy() {
		if (this.broker != null) {
			this.broker.destroy();
		}
	}

}
