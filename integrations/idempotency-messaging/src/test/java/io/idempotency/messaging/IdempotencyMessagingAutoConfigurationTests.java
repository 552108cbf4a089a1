package io.idempotency.messaging;

import com.rabbitmq.client.Channel;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import org.apache.kafka.clients.consumer.Consumer;
import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.support.Acknowledgment;

import static org.assertj.core.api.Assertions.assertThat;

class IdempotencyMessagingAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(IdempotencyMessagingAutoConfiguration.class, IdempotencyAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory");

	@Test
	void guardsListeners() {
		this.runner.run((context) -> assertThat(context).hasSingleBean(ListenerAdapter.class));
	}

	@Test
	void hasNoBeansWhenLibraryIsDisabled() {
		this.runner.withPropertyValues("idempotency.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(ListenerAdapter.class));
	}

	@Test
	void preparesNoContainersWithoutKafka() {
		this.runner.withClassLoader(new FilteredClassLoader(KafkaListenerEndpointRegistry.class))
			.run((context) -> assertThat(context).hasSingleBean(ListenerAdapter.class)
				.getBean(ListenerAdapter.class)
				.returns(true, ListenerAdapter::isRunning));
	}

	@Test
	void registersProxiesOfArguments() {
		RuntimeHints hints = new RuntimeHints();
		new IdempotencyMessagingAutoConfiguration.Hints().registerHints(hints, getClass().getClassLoader());
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(Channel.class)).accepts(hints);
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(Consumer.class)).accepts(hints);
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(Acknowledgment.class)).accepts(hints);
	}

}
