package io.idempotency.samples.shop.messages;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import org.apache.qpid.server.SystemLauncher;
import org.apache.qpid.server.model.SystemConfig;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.util.FileSystemUtils;

/**
 * Starts an embedded broker with the protocol of RabbitMQ, unless
 * {@code spring.rabbitmq.host} or {@code spring.rabbitmq.addresses} is set. It starts
 * before the first bean and stops after the last one. For demonstrations only: it loses
 * all messages when it stops, and does not support dead letters.
 */
class EmbeddedRabbit implements BeanFactoryPostProcessor, DisposableBean {

	private final ConfigurableEnvironment environment;

	private @Nullable SystemLauncher launcher;

	private @Nullable Path directory;

	EmbeddedRabbit(ConfigurableEnvironment environment) {
		this.environment = environment;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		if (Stream.of("spring.rabbitmq.host", "spring.rabbitmq.addresses")
			.anyMatch(this.environment::containsProperty)) {
			return;
		}
		try {
			int port = start();
			this.environment.getPropertySources()
				.addLast(new MapPropertySource("embedded RabbitMQ",
						Map.of("spring.rabbitmq.host", "127.0.0.1", "spring.rabbitmq.port", port)));
		}
		catch (Exception ex) {
			throw new IllegalStateException("The embedded broker did not start", ex);
		}
	}

	private int start() throws Exception {
		int port = freePort();
		Path work = Files.createTempDirectory("shop-rabbit");
		this.directory = work;
		URL configuration = Objects.requireNonNull(EmbeddedRabbit.class.getResource("/embedded-rabbit.json"));
		SystemLauncher started = new SystemLauncher();
		this.launcher = started;
		started.startup(Map.of(SystemConfig.TYPE, "Memory", SystemConfig.INITIAL_CONFIGURATION_LOCATION,
				configuration.toString(), SystemConfig.STARTUP_LOGGED_TO_SYSTEM_OUT, false, SystemConfig.CONTEXT,
				Map.of("qpid.amqp_port", String.valueOf(port), "qpid.work_dir", work.toString())));
		return port;
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	@Override
	public void destroy() throws IOException {
		if (this.launcher != null) {
			this.launcher.shutdown();
		}
		FileSystemUtils.deleteRecursively(this.directory);
	}

}
