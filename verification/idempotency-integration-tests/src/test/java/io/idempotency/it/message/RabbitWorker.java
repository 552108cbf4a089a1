package io.idempotency.it.message;

import io.idempotency.ConflictMode;
import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;

import org.springframework.amqp.rabbit.annotation.EnableRabbit;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.config.SimpleRabbitListenerContainerFactory;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/**
 * A consumer of RabbitMQ in a JVM of its own, which is to be killed in the middle of a
 * message.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableRabbit
@Import({ WorkerStoreConfiguration.class, WorkerTask.class, RabbitWorker.Listeners.class })
class RabbitWorker {

	public static void main(String[] args) {
		new SpringApplicationBuilder(RabbitWorker.class).web(WebApplicationType.NONE).run(args);
	}

	@Bean
	CachingConnectionFactory rabbitConnectionFactory(@Value("${test.broker}") String address) {
		return RabbitServer.connections(address);
	}

	@Bean
	SimpleRabbitListenerContainerFactory rabbitListenerContainerFactory(ConnectionFactory connections) {
		SimpleRabbitListenerContainerFactory factory = new SimpleRabbitListenerContainerFactory();
		factory.setConnectionFactory(connections);
		factory.setReceiveTimeout(200L);
		return factory;
	}

	/** They wait for the dead one inside the guard, as the documentation says. */
	static class Listeners {

		private final WorkerTask task;

		Listeners(WorkerTask task) {
			this.task = task;
		}

		@RabbitListener(queues = "${test.queue}")
		@Idempotent(key = "#payload", lease = "5s", conflict = ConflictMode.WAIT)
		public void on(String payload) throws InterruptedException {
			this.task.work(payload);
		}

		@RabbitListener(queues = "${test.queue}" + WorkerBroker.KEPT)
		@Idempotent(key = "#payload", lease = "5s", conflict = ConflictMode.WAIT, recover = "find")
		public void onKept(String payload) throws InterruptedException {
			this.task.workThatIsKept(payload);
		}

		public @Nullable String find(String payload) {
			return this.task.find(payload);
		}

	}

}
