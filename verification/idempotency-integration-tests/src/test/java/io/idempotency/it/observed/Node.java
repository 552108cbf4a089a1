package io.idempotency.it.observed;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.idempotency.it.client.Client;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.faults.BadLine;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The application on a real Tomcat, with its records behind a line that can be cut. Its
 * client tells at once that the line is cut, and has time while it is not.
 */
final class Node implements AutoCloseable {

	final BadLine line;

	final Client client;

	final ConfigurableApplicationContext application;

	Node(RedisServer server, String... properties) {
		this.line = new BadLine(server.port());
		Map<String, String> arguments = new TreeMap<>(
				Map.of("server.port", "0", "idempotency.store", "redis", "spring.data.redis.host", "127.0.0.1",
						"spring.data.redis.port", String.valueOf(this.line.port()), "spring.data.redis.client-type",
						"jedis", "spring.data.redis.timeout", "6s", "spring.data.redis.repositories.enabled", "false",
						"idempotency.store-timeout", "6s", "management.endpoints.web.exposure.include",
						"health,prometheus", "management.endpoint.health.show-details", "always"));
		for (String property : properties) {
			String[] parts = property.split("=", 2);
			arguments.put(parts[0], parts[1]);
		}
		this.application = new SpringApplicationBuilder(ObservedApplication.class).registerShutdownHook(false)
			.run(arguments.entrySet().stream().map((argument) -> "--" + argument).toArray(String[]::new));
		this.client = new Client(port());
	}

	int port() {
		return this.application.getEnvironment().getRequiredProperty("local.server.port", int.class);
	}

	/** The samples that Prometheus would read. */
	List<Sample> scrape() {
		return Sample.all(this.client.send(this.client.to("/actuator/prometheus").GET()).text());
	}

	/** How many calls ended how, as {@code operation outcome}. */
	Map<String, Long> outcomes() {
		Map<String, Long> outcomes = new TreeMap<>();
		scrape().stream()
			.filter((sample) -> sample.name().equals("idempotency_seconds_count") && sample.value() > 0)
			.forEach((sample) -> outcomes.merge(sample.label("operation") + " " + sample.label("outcome"),
					(long) sample.value(), Long::sum));
		return outcomes;
	}

	@Override
	public void close() {
		this.application.close();
		this.line.close();
	}

}
